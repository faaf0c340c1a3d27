"""Makes a Python in the folder that is named: this one's, but for `ensurepip`, which lends pip instead of installing it."""

import os
import shutil
import subprocess
import sys
import sysconfig

ENSUREPIP = """
import os, shutil, sys, sysconfig

made_in = {made_in!r}

template = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'template')
own = sysconfig.get_path('purelib')
lent = os.path.join(template, os.path.relpath(own, sys.prefix))
# Which packages there are is read from the environment; their modules are found in the template.
for name in os.listdir(lent):
    if name.endswith('.dist-info'):
        shutil.copytree(os.path.join(lent, name), os.path.join(own, name))
with open(os.path.join(own, 'lent.pth'), 'w') as file:
    file.write(lent)
programs = os.path.join(template, 'bin')
for name in os.listdir(programs):
    if not name.startswith('pip'):
        continue
    copy = os.path.join(sys.prefix, 'bin', name)
    with open(os.path.join(programs, name)) as program, open(copy, 'w') as file:
        file.write(program.read().replace(made_in, sys.prefix))
    shutil.copymode(os.path.join(programs, name), copy)
"""

folder = sys.argv[1]
library = sysconfig.get_path('stdlib')
own = os.path.join(folder, 'lib', os.path.basename(library))
programs = os.path.join(folder, 'bin')
for path in (os.path.join(own, 'site-packages'), os.path.join(own, 'ensurepip'), programs):
    os.makedirs(path)
for name in os.listdir(library):
    if name not in ('ensurepip', 'site-packages', 'dist-packages'):
        os.symlink(os.path.join(library, name), os.path.join(own, name))
# A link would lead back to the other Python.
executable = os.path.realpath(sys.executable)
name = f'python{sys.version_info.major}.{sys.version_info.minor}'
shutil.copy2(executable, os.path.join(programs, name))
for alias in ('python3', 'python'):
    os.symlink(name, os.path.join(programs, alias))

template = os.path.join(own, 'ensurepip', 'template')
subprocess.run([executable, '-I', '-m', 'venv', template], check=True)
for name, text in (('__init__', ''), ('__main__', ENSUREPIP.format(made_in=template))):
    with open(os.path.join(own, 'ensurepip', f'{name}.py'), 'w') as file:
        file.write(text)
