import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareEnvironment } from '../../../../shared/runner/environment/prepare-environment.ts';
import { pythonsFolder } from '../../../../shared/runner/job/job-sandbox.ts';
import {
  type EnvironmentFixture,
  makeFixture,
  options,
  program,
  removeFixture,
} from './environment-fixture.ts';

let fixture: EnvironmentFixture;
beforeEach(async () => {
  fixture = await makeFixture();
});
afterEach(() => removeFixture(fixture));

const wanted = { env_type: 'python', dependencies: 'python==3.39.*' } as const;

/** A uv whose download is a script that says it is Python 3.39.1. */
async function fakeUv(download: string): Promise<void> {
  const place = '$UV_PYTHON_INSTALL_DIR/cpython-3.39.1';
  const answer = `{"implementation": "cpython", "version": "3.39.1", "executable": "${place}/python"}`;
  await program(
    fixture,
    'uv',
    `#!/bin/sh
# As the real one: it makes its cache before anything else.
case "$*" in
*--no-cache*|'--version') mkdir -p "$TMPDIR" ;;
*) mkdir -p "$UV_CACHE_DIR" || exit 2 ;;
esac
case "$1 $2" in
'python find') test -x "${place}/python" && echo "${place}/python" ;;
'python install')
  echo "$*" >> ${fixture.folder}/downloads
  ${download}
  mkdir -p "${place}"
  cat > "${place}/python" <<EOF
#!/bin/sh
case "\\$*" in
*venv*)
  for last; do :; done
  mkdir -p "\\$last/bin" "\\$last/lib/python3.39/site-packages" && ln -s "${place}/python" "\\$last/bin/python" ;;
*) echo '${answer}' ;;
esac
EOF
  chmod 755 "${place}/python" ;;
esac
`,
  );
}

/** Options with few programs on the search path, so that few are asked for their version. */
function fewPrograms(more: Parameters<typeof options>[2] = {}): ReturnType<typeof options> {
  const given = options(fixture, wanted);
  const operatorEnv = {
    ...given.operatorEnv,
    PATH: `${fixture.programs}:/usr/bin:/bin`,
    ...more?.operatorEnv,
  };
  return { ...given, ...more, operatorEnv };
}

const downloads = async () =>
  (await readdir(fixture.folder)).includes('downloads')
    ? execFileSync('cat', [join(fixture.folder, 'downloads')], { encoding: 'utf8' })
        .trim()
        .split('\n')
    : [];

test('a version of Python that the host lacks is downloaded once for all projects', async () => {
  await fakeUv('');

  const first = await prepareEnvironment(fewPrograms());
  const second = await prepareEnvironment(fewPrograms({ projectId: 'p2' }));

  expect(first).toMatchObject({ cache: 'miss', stored: true });
  expect(second).toMatchObject({ cache: 'miss', stored: true });
  expect(fixture.lines).toContain('environment: uv downloads Python ==3.39.*');
  expect(await downloads()).toEqual(['python install --no-config --no-progress --no-bin ==3.39.*']);
  expect(await readdir(join(fixture.root, pythonsFolder))).toEqual(['cpython-3.39.1']);
});

test('a download that fails ends the preparation with its reason and leaves nothing', async () => {
  await fakeUv('echo "error: Failed to download https://python.example/3.39" >&2; exit 1');

  const prepared = prepareEnvironment(fewPrograms());

  await expect(prepared).rejects.toMatchObject({
    code: 'python-missing',
    message: expect.stringMatching(
      /needs Python ==3\.39\.\*.*uv could not download it: error: Failed to download/s,
    ),
  });
  expect(await readdir(join(fixture.root, pythonsFolder))).toEqual([]);
});

test('UV_PYTHON_DOWNLOADS=never forbids downloads', async () => {
  await fakeUv('');

  const prepared = prepareEnvironment(fewPrograms({ operatorEnv: { UV_PYTHON_DOWNLOADS: 'never' } }));

  await expect(prepared).rejects.toMatchObject({ code: 'python-missing' });
  expect(await downloads()).toEqual([]);
});
