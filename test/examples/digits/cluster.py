"""The nodes of one training, which meet at MASTER_ADDR:MASTER_PORT and average vectors through plain sockets."""

import os
import socket
import struct
import time

import numpy as np

PATIENCE = 600  # seconds: another node may still be installing its environment
HELLO_SECONDS = 10


class Cluster:
    """Node 0 gathers what every node sends, averages it and sends it back. A single node is its own cluster."""

    def __init__(self):
        self.rank = int(os.environ.get("NODE_RANK", "0"))
        self.nodes = int(os.environ.get("NUM_NODES", "1"))
        self.peers = []
        if self.nodes > 1:
            # Tells the nodes of this experiment from whoever else knocks.
            self.secret = os.environ["EXPERIMENT_ID"].encode()
            port = int(os.environ["MASTER_PORT"])
            self.peers = self._gather(port) if self.rank == 0 else [self._join(os.environ["MASTER_ADDR"], port)]

    @property
    def is_main(self):
        return self.rank == 0

    def average(self, vector):
        """The mean of the vectors of all nodes, on every node."""
        if not self.peers:
            return vector
        if self.is_main:
            vectors = [vector, *(self._receive(peer, vector.size) for peer in self.peers)]
            return self.share(np.mean(vectors, axis=0))
        self._send(self.peers[0], vector)
        return self.share(vector)

    def share(self, vector):
        """Node 0's vector, on every node; all bring one of the same length."""
        if self.is_main:
            for peer in self.peers:
                self._send(peer, vector)
            return vector
        return self._receive(self.peers[0], vector.size)

    def _gather(self, port):
        peers = {}
        with socket.create_server(("", port)) as server:
            deadline = time.monotonic() + PATIENCE
            while len(peers) < self.nodes - 1:
                server.settimeout(max(0.1, deadline - time.monotonic()))
                peer, address = server.accept()
                rank = self._greeted(peer)
                if rank is None or rank in peers:
                    peer.close()
                    continue
                print(f"node {rank} joined from {address[0]}")
                peers[rank] = peer
        return [peers[rank] for rank in sorted(peers)]

    def _greeted(self, peer):
        peer.settimeout(HELLO_SECONDS)
        try:
            hello = _read(peer, len(self.secret) + 4)
        except OSError:
            return None
        peer.settimeout(PATIENCE)
        (rank,) = struct.unpack("!I", hello[-4:])
        return rank if hello[:-4] == self.secret and 0 < rank < self.nodes else None

    def _join(self, host, port):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                main = socket.create_connection((host, port), timeout=PATIENCE)
                main.sendall(self.secret + struct.pack("!I", self.rank))
                print(f"joined node 0 at {host}:{port}")
                return main
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    @staticmethod
    def _send(peer, vector):
        peer.sendall(np.asarray(vector, dtype="<f8").tobytes())

    @staticmethod
    def _receive(peer, size):
        return np.frombuffer(_read(peer, 8 * size), dtype="<f8")


def _read(peer, size):
    data = bytearray()
    while len(data) < size:
        part = peer.recv(min(1 << 20, size - len(data)))
        if not part:
            raise ConnectionError("another node has gone")
        data += part
    return bytes(data)
