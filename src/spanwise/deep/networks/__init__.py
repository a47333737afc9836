"""The networks of the experiments, one file each.

Each ends in a linear layer `head`, and `features` is all that comes before it. `prepare`, where there
is one, turns rows as users have them into tensors on the CPU, once a batch.
"""
