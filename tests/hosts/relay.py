"""Carries frames between two network interfaces, late, and loses some.

relay.py A B DELAY LOSS SEED LOG

DELAY   seconds that each frame waits, in either direction
LOSS    probability that a frame is lost
SEED    of the losses
LOG     where the numbers of frames carried and lost are written, after every second

For kernels without tc netem. Frames keep what offloading leaves to the interface (checksums that
are not computed yet, segments that are not cut yet), so a frame is what TCP hands to its link: up
to 64 KiB.
"""

import random
import select
import socket
import sys
import time
from collections import deque
from pathlib import Path

ETH_P_ALL = 3
SOL_PACKET, PACKET_VNET_HDR = 263, 15
PACKET_OUTGOING = 4
LARGEST = 1 << 17


def opened(interface: str) -> socket.socket:
    """A socket that has all frames of an interface, each behind a header about offloading."""
    one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    one.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        one.setsockopt(socket.SOL_SOCKET, buffer, 1 << 24)
    one.bind((interface, ETH_P_ALL))
    return one


def main() -> None:
    ends = [opened(interface) for interface in sys.argv[1:3]]
    delay, loss = float(sys.argv[3]), float(sys.argv[4])
    draw, log = random.Random(sys.argv[5]), Path(sys.argv[6])
    waiting: deque[tuple[float, socket.socket, bytes]] = deque()
    carried = lost = 0
    written = 0.0
    log.write_text("0 0\n")
    while True:
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, to, frame = waiting.popleft()
            try:
                to.send(frame)
                carried += 1
            except OSError:  # an interface that is down, or a full queue
                lost += 1
        if now - written > 1:
            log.write_text(f"{carried} {lost}\n")
            written = now
        wait = min(1.0, max(0.0, waiting[0][0] - now)) if waiting else 1.0
        for end in select.select(ends, [], [], wait)[0]:
            frame, address = end.recvfrom(LARGEST)
            if address[2] == PACKET_OUTGOING:
                continue
            if draw.random() < loss:
                lost += 1
                continue
            waiting.append((time.monotonic() + delay, ends[end is ends[0]], frame))


if __name__ == "__main__":
    main()
