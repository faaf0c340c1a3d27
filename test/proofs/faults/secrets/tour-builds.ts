import { archiveOf } from '../world/source-archive.ts';
import type { Canaries } from './canaries.ts';
import { follow } from './follow.ts';
import { newSecretProject } from './secret-project.ts';
import type { Witness } from './witness.ts';

const project =
  '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "leaky"\nversion = "1.0"\n';

/** Builds a wheel of one file with what Python knows here as `text`, after it did as `first` says. */
const backend = (first: string) => `
import base64, os, pathlib, urllib.parse, zipfile
addresses = ' '.join(os.environ.get(name, '') for name in ['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL'])
passwords = [urllib.parse.unquote(one.password or one.username or '') for one in map(urllib.parse.urlsplit, addresses.split())]
netrc = pathlib.Path.home().joinpath('.netrc').read_text()
text = 'nothing'
def build_wheel(directory, settings=None, metadata=None):
    global text
${first
  .trim()
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
    name, info = 'leaky-1.0-py3-none-any.whl', 'leaky-1.0.dist-info'
    with zipfile.ZipFile(os.path.join(directory, name), 'w') as wheel:
        wheel.writestr('leaky.py', text)
        wheel.writestr(f'{info}/METADATA', 'Metadata-Version: 2.1\\nName: leaky\\nVersion: 1.0\\n')
        wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: own\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr(f'{info}/RECORD', ''.join(f'{file},,\\n' for file in ['leaky.py', f'{info}/METADATA', f'{info}/WHEEL', f'{info}/RECORD']))
    return name
`;

/** What scripts of packages do by mistake with what they find; the last two leave it in the environment. */
const scripts = {
  'a build that shows its variables': `
for name, value in os.environ.items(): print(f'{name}={value}', flush=True)
print(netrc, flush=True)
for password in passwords: print('password', password, base64.b64encode(password.encode()).decode(), flush=True)
print('there are', len(passwords), 'passwords', flush=True)
raise SystemExit('ValueError: no access with ' + addresses + ' ' + passwords[-1] + netrc)`,
  'a build that keeps a password': `text = f'password = {passwords[1]!r}'`,
  'a build that keeps a header': `text = base64.b64encode(f'ben:{passwords[1]}'.encode()).decode()`,
};

/** Environments whose packages are careless with the credentials of indexes. Answers how their trainings ended. */
export async function tourBuilds(
  witness: Witness,
  canaries: Canaries,
  token: string,
  isShort: boolean,
): Promise<Record<string, string>> {
  const password = (what: string) => canaries.make(`the password of ${what} in a build`);
  const variables = [
    { name: 'PIP_INDEX_URL', value: `https://ann:${password('an index')}@pypi.org/simple` },
    {
      name: 'PIP_EXTRA_INDEX_URL',
      value: `https://ben:${password('a further index')}@pypi.org/simple https://${password('a user')}@pypi.org/simple`,
    },
    { name: 'NETRC', value: `machine pypi.org login cat password ${password('a .netrc')}` },
    { name: 'TOKEN', value: password('no index') },
  ];
  const ends: Record<string, string> = {};
  for (const [what, script] of Object.entries(scripts).slice(0, isShort ? 1 : 3)) {
    const leaky = await archiveOf({
      'leaky-1.0/PKG-INFO': 'Metadata-Version: 2.1\nName: leaky\nVersion: 1.0\n',
      'leaky-1.0/pyproject.toml': project,
      'leaky-1.0/backend.py': backend(script),
    });
    const files = { 'train.sh': 'true\n', 'leaky-1.0.tar.gz': leaky };
    const environment = { env_type: 'python', dependencies: './leaky-1.0.tar.gz' };
    const path = await newSecretProject(witness, token, files, environment);
    const body = JSON.stringify({ variables });
    const headers = { 'Content-Type': 'application/json' };
    await witness.must('PUT', `${path}/variables`, { token, headers, body });
    const query = { config: 'train.yaml' };
    const { experiment_id } = await witness.must('POST', `${path}/train`, { token, query });
    const experiment = `${path}/experiments/${experiment_id}`;
    const { status, log } = await follow(witness, token, experiment);
    const { status_reason } = await witness.must('GET', experiment, { token });
    const isShown = script.includes('SystemExit');
    const expected = isShown
      ? log.includes('PIP_INDEX_URL=***') && log.includes('there are 3 passwords') && !log.includes('TOKEN=')
      : /contains a credential/.test(status_reason);
    if (!expected || status !== 'FAILED') throw new Error(`${what}: ${status} ${status_reason}\n${log}`);
    ends[what] = status;
  }
  return ends;
}
