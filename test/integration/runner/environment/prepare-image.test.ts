import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareEnvironment } from '../../../../shared/runner/environment/prepare-environment.ts';
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

const docker = { env_type: 'docker', dependencies: 'team/trainer:1' } as const;
const id = `sha256:${'ab'.repeat(32)}`;
const engine = (inspect: string, pull: string) =>
  program(
    fixture,
    'docker',
    `#!/bin/sh\ncase "$1" in info) echo 28;; image) ${inspect};; pull) ${pull};; *) exit 9;; esac\n`,
  );

test('without a running engine the person is told what is missing', async () => {
  await program(fixture, 'docker', '#!/bin/sh\necho cannot connect >&2; exit 1\n');
  await expect(prepareEnvironment(options(fixture, docker))).rejects.toMatchObject({
    code: 'engine-missing',
    message: expect.stringContaining('docker info'),
  });
});

test('an image that is there is used by its content id', async () => {
  await engine(`echo ${id}`, 'exit 9');
  expect(await prepareEnvironment(options(fixture, docker))).toMatchObject({
    cache: 'hit',
    image: id,
    lockHash: 'ab'.repeat(32),
    env: {},
  });
});

test('an image that is not there is pulled once', async () => {
  await engine(`test -e ${fixture.folder}/pulled && echo ${id}`, `touch ${fixture.folder}/pulled`);
  expect(await prepareEnvironment(options(fixture, docker))).toMatchObject({ cache: 'miss', image: id });
});

test("an image that cannot be pulled fails with the engine's words", async () => {
  await engine('exit 1', 'echo "pull access denied for team/trainer" >&2; exit 1');
  await expect(prepareEnvironment(options(fixture, docker))).rejects.toMatchObject({
    code: 'install-failed',
    message: 'pull access denied for team/trainer',
  });
});
