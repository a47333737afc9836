"""The paper's experiments: a grid is data, a cell that is done is not run again, tables read only what was stored."""
