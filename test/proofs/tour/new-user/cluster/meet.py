"""Two nodes add up what each has. No line says who is who: torch.distributed reads it, and so do plain sockets below."""

import os
import socket
import time

mine = 1.0 + int(os.environ["RANK"])

try:
    import torch
    import torch.distributed as dist
except ImportError:
    size, address = int(os.environ["WORLD_SIZE"]), (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    if os.environ["RANK"] == "0":
        server = socket.create_server(("", address[1]))
        peers = [server.accept()[0] for _ in range(size - 1)]
        total = mine + sum(float(peer.recv(64).decode()) for peer in peers)
        for peer in peers:
            peer.sendall(f"{total}\n".encode())
    else:
        for _ in range(600):
            try:
                peer = socket.create_connection(address)
                break
            except OSError:
                time.sleep(0.5)
        peer.sendall(f"{mine}\n".encode())
        total = float(peer.recv(64).decode())
    print(f"{size} nodes have {total} by sockets")
else:
    dist.init_process_group("gloo")
    total = torch.tensor([mine])
    dist.all_reduce(total)
    print(f"{dist.get_world_size()} nodes have {total.item()} by torch {torch.__version__}")
    dist.destroy_process_group()
