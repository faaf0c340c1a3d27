"""Runs a command in a pseudo-terminal. A line of stdin is JSON: {"type": text} or {"resize": [rows, columns]}."""
import fcntl, json, os, pty, select, struct, sys, termios

rows, columns, *argv = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(argv[0], argv)


def resize(rows, columns):
    # The kernel tells the program by SIGWINCH.
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))


resize(rows, columns)
waiting = b""
sources = [terminal, 0]
while terminal in sources:
    for source in select.select(sources, [], [])[0]:
        try:
            data = os.read(source, 65536)
        except OSError:
            # Linux says so when the last program has left the terminal.
            data = b""
        if not data:
            sources.remove(source)
        elif source == terminal:
            os.write(1, data)
        else:
            *lines, waiting = (waiting + data).split(b"\n")
            for line in lines:
                told = json.loads(line)
                if "resize" in told:
                    resize(*told["resize"])
                else:
                    os.write(terminal, told["type"].encode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)
