// Prepares one environment in a process of its own, so that a test can kill it.
import { prepareEnvironment } from '../../../../shared/runner/environment/prepare-environment.ts';
import { makeBench, options } from './environment-bench.ts';

const bench = await makeBench(process.argv[2]);
const prepared = await prepareEnvironment(options(bench, { env_type: 'node', dependencies: 'pkg' }));
console.log(prepared.cache);
