import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { indexVariables } from '../../../../shared/runner/environment/index-variables.ts';
import { prepareEnvironment } from '../../../../shared/runner/environment/prepare-environment.ts';
import {
  type EnvironmentFixture,
  fakeNpm,
  installs,
  makeFixture,
  options,
  removeFixture,
} from './environment-fixture.ts';

const spec = { env_type: 'node', dependencies: 'pkg' } as const;
const registry = 'https://ann:p4ssw0rd-of-ann@packages.example/npm';
const allowed = { packageIndexes: ['packages.example'] };

describe('variables of a project by which installers find packages', () => {
  let fixture: EnvironmentFixture;
  beforeEach(async () => {
    fixture = await makeFixture();
  });
  afterEach(() => removeFixture(fixture));

  const prepare = (variables: Readonly<Record<string, string>>) =>
    prepareEnvironment(options(fixture, spec, { indexes: indexVariables(variables), ...allowed }));

  test('reach the installer alone of all variables, and leave nothing behind', async () => {
    await fakeNpm(
      fixture,
      `env > ${fixture.folder}/seen; cat $HOME/.npmrc $HOME/.netrc >> ${fixture.folder}/seen; stat -c %a $HOME/.netrc >> ${fixture.folder}/seen`,
    );
    await prepare({
      NPM_CONFIG_REGISTRY: registry,
      NPM_TOKEN: 'npm_0123456789',
      NETRC: 'machine packages.example login ann password netrc-passw0rd',
      HF_TOKEN: 'hf_0123456789',
    });
    const seen = await readFile(join(fixture.folder, 'seen'), 'utf8');
    expect(seen).toContain(`NPM_CONFIG_REGISTRY=${registry}`);
    expect(seen).toContain('NPM_TOKEN=npm_0123456789');
    expect(seen).toContain('//packages.example/npm/:_authToken=${NPM_TOKEN}');
    expect(seen).toContain('netrc-passw0rd\n600');
    expect(seen).not.toContain('hf_');
    for (const folder of [fixture.root, fixture.store.folder])
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
        const bytes = entry.isFile() ? await readFile(join(entry.parentPath, entry.name)) : Buffer.of();
        for (const secret of ['p4ssw0rd-of-ann', 'npm_0123456789', 'netrc-passw0rd'])
          expect([entry.name, bytes.includes(secret)]).toEqual([entry.name, false]);
      }
  });

  test.each([
    'p4ssw0rd-of-ann%21',
    'p4ssw0rd-of-ann!',
    Buffer.from('ann:p4ssw0rd-of-ann!').toString('base64'),
    'npm_0123456789',
    Buffer.from('npm_0123456789').toString('base64url'),
    'netrc-passw0rd',
  ])('an environment that holds the credential %s is not kept', async (secret) => {
    await fakeNpm(
      fixture,
      `mkdir node_modules/pkg/deep && echo "x${secret}y" > node_modules/pkg/deep/settings`,
    );
    const made = prepare({
      NPM_CONFIG_REGISTRY: registry.replace('@', '%21@'),
      NPM_TOKEN: 'npm_0123456789',
      NETRC: 'machine packages.example login ann password netrc-passw0rd',
    });
    await expect(made).rejects.toMatchObject({
      code: 'pack-refused',
      message:
        'The built environment cannot be kept: "node_modules/pkg/deep/settings" contains a credential from the project\'s variables.',
    });
    expect(await readdir(fixture.store.folder)).toEqual([]);
  });

  test('a user without a password is none that an environment might not hold', async () => {
    await fakeNpm(fixture, 'echo "written by ann" > node_modules/pkg/authors');
    await prepare({ NPM_CONFIG_REGISTRY: 'https://ann@packages.example/npm' });
    expect(await installs(fixture)).toBe(1);
  });

  test('another index is another environment, another password is not', async () => {
    await fakeNpm(fixture);
    await prepare({ NPM_CONFIG_REGISTRY: registry });
    const other = await prepare({ NPM_CONFIG_REGISTRY: registry.replace('p4ssw0rd', 'changed') });
    expect([other.cache, await installs(fixture)]).toEqual(['hit', 1]);
    await prepare({ NPM_CONFIG_REGISTRY: `${registry}/other` });
    expect(await installs(fixture)).toBe(2);
  });

  test('keep to the hosts that the deployment allows', async () => {
    await fakeNpm(fixture);
    await expect(
      prepare({ PIP_EXTRA_INDEX_URL: 'https://ann:secret-of-ann@evil.example/simple' }),
    ).rejects.toMatchObject({
      code: 'bad-dependencies',
      message:
        'The variable PIP_EXTRA_INDEX_URL cannot be used: evil.example is not an allowed package index of this deployment; allowed are packages.example. Its operator allows others: PACKAGE_INDEXES for npm start, packageIndexes of a deployment to AWS.',
    });
    await prepare({ npm_config_registry: 'https://registry.npmjs.org' });
  });
});
