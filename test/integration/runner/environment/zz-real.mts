import { execFileSync } from 'node:child_process';
import { rm, chmod } from 'node:fs/promises';
import { prepareEnvironment } from '../../../../shared/runner/environment/prepare.ts';
import { makeBench, options } from './environment-bench.ts';
const owner = process.argv[2] === 'owner' ? { uid: 65534, gid: 65534 } : undefined;
process.umask(0o077);
const bench = await makeBench(); await chmod(bench.source,0o755);
const path = process.argv[3]!;
const spec = { env_type: 'python', dependencies: 'scikit-learn, skl2onnx' } as const;
const o = () => options(bench, spec, { operatorEnv: { ...process.env, PATH: path }, ...(owner ? { owner } : {}), log: (l) => console.log(l) });
const report = (p: any) => console.log({ ...p, env: p.env.VIRTUAL_ENV && '…' });
const p = await prepareEnvironment(o()); report(p);
report(await prepareEnvironment(o()));
await rm(bench.root, { recursive: true });
const t = performance.now(); const q = await prepareEnvironment(o()); report(q);
console.log(execFileSync('python', ['-c', 'import sklearn, skl2onnx, time; print(sklearn.__version__)'], { env: q.env, encoding: 'utf8', cwd: '/', ...(owner ?? {}) }));
console.log(await bench.store.lock());
try { execFileSync('sh', ['-c', `id -u; touch "${q.env['VIRTUAL_ENV']}/x"; ls -ld "${q.env['VIRTUAL_ENV']}"; find "${q.env['VIRTUAL_ENV']}" -perm /222 -not -type l | wc -l; find "${q.env['VIRTUAL_ENV']}" -newer "${q.env['VIRTUAL_ENV']}/pyvenv.cfg" -name '*.pyc' | wc -l`], { stdio: 'inherit', ...(owner ?? {}) }); } catch (e) { console.log(String(e)); }
await rm(bench.folder, { recursive: true, force: true });
