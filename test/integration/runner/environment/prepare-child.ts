// Prepares one environment in a process of its own, so that a test can kill it.
import { prepareEnvironment } from '../../../../shared/runner/environment/prepare-environment.ts';
import { makeFixture, options } from './environment-fixture.ts';

const fixture = await makeFixture(process.argv[2]);
const prepared = await prepareEnvironment(options(fixture, { env_type: 'node', dependencies: 'pkg' }));
console.log(prepared.cache);
