"""A download is whole or it is not there."""

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from spanwise.errors import DataError
from spanwise.streams import download
from spanwise.streams.download import SIGNATURE, fetch

WHOLE = SIGNATURE + 200_000 * b"x"
HDF5, HTML = "application/octet-stream", "text/html"


class Answer(BaseHTTPRequestHandler):
    """Sends what its path says: a file, a page, an error, or half of a file."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, kind, length, body = {
            "/whole": (200, HDF5, ("Content-Length", str(len(WHOLE))), WHOLE),
            "/untold": (200, HDF5, ("Connection", "close"), WHOLE),
            "/page": (200, HTML, ("Content-Length", "20"), b"<html>quota exceeded"),
            "/nothing": (200, HTML, ("Content-Length", "0"), b""),
            "/gone": (404, HTML, ("Content-Length", "4"), b"gone"),
            "/cut": (200, HDF5, ("Content-Length", str(len(WHOLE))), WHOLE[:100_000]),
            "/cut-chunk": (200, HDF5, ("Transfer-Encoding", "chunked"), b"186a0\r\n" + WHOLE[:50_000]),
        }[self.path]
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header(*length)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_):
        """Nothing on the screen."""


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("page", ["whole", "untold"])
def test_a_file_is_downloaded_once_into_a_new_folder(tmp_path, monkeypatch, address, page):
    monkeypatch.setitem(download.FILES, "arxiv", f"{address}/{page}")
    path = fetch("arxiv", tmp_path / "new" / "data")
    assert path == tmp_path / "new" / "data" / "arxiv.hdf5"
    assert path.read_bytes() == WHOLE
    assert list(path.parent.iterdir()) == [path]
    monkeypatch.setitem(download.FILES, "arxiv", f"{address}/gone")
    assert fetch("arxiv", path.parent) == path


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("page", "the answer is no HDF5 file but text/html"),
        ("nothing", "the answer is no HDF5 file but text/html"),
        ("gone", "HTTP Error 404"),
        ("cut", "cut off 100,008 bytes before its end"),
        ("cut-chunk", "IncompleteRead"),
    ],
)
def test_what_is_no_whole_file_is_told_and_nothing_is_left(tmp_path, monkeypatch, address, page, says):
    monkeypatch.setitem(download.FILES, "arxiv", f"{address}/{page}")
    with pytest.raises(DataError, match=rf"/{page} could not be downloaded: .*{says}.*by hand as .*arxiv\.hdf5"):
        fetch("arxiv", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_server_that_is_not_there_is_told(tmp_path, monkeypatch, address):
    with HTTPServer(("127.0.0.1", 0), Answer) as unused:
        port = unused.server_port
    monkeypatch.setitem(download.FILES, "arxiv", f"http://127.0.0.1:{port}/whole")
    with pytest.raises(DataError, match=r"could not be downloaded.*by hand"):
        fetch("arxiv", tmp_path)
    assert not list(tmp_path.iterdir())
