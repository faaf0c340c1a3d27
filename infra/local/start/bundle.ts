import { existsSync } from 'node:fs';
import { glob, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { takeKernelLock } from '../../../shared/host/kernel-lock.ts';
import { bundleOptions } from '../../service/bundle-options.ts';
import { bundledEndpoints, endpointFiles } from '../../service/endpoints.ts';

/** Entry points of the local service, apart from the endpoints. */
const programs = [
  'functions/events/*.event.ts',
  'functions/jobs/*.job.ts',
  'shared/onnx/engine/process/main.ts',
  'shared/serving/sessions/session-program.ts',
  'infra/local/dynamodb/relay-main.ts',
  'infra/local/s3/main.ts',
  'infra/local/start/main.ts',
  'infra/aws/job-image/run-job.ts',
];

/**
 * Bundle the service for the local run into `folder`, which mirrors the source tree. Loading the AWS SDK from its
 * sources takes most of a second, and bundled jobs start faster too. The final rename makes the folder appear
 * complete or not at all.
 */
async function bundle(root: string, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  const files = (await Array.fromAsync(glob(programs, { cwd: root }))).sort();
  await build({
    absWorkingDir: root,
    entryPoints: [
      { in: bundledEndpoints, out: bundledEndpoints },
      ...files.map((file) => ({ in: file, out: file.replace(/\.ts$/, '') })),
    ],
    outdir: unfinished,
    outbase: root,
    // Keep native code in its package.
    external: ['onnxruntime-node'],
    ...bundleOptions,
    plugins: [endpointModules(root), ...bundleOptions.plugins],
  });
  await writeFile(`${unfinished}/package.json`, '{"type":"module"}\n');
  // Another process may have built the same bundle in the meantime, and may be running it.
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true, force: true }));
}

/**
 * Make one module of all endpoints. Its `modules` maps each file to its endpoint. If each endpoint were an entry
 * point, the bundler would make a chunk for each set of endpoints that share code. That would be 700 files, and
 * Node would take a quarter of a second to link them.
 * @param root folder of the sources
 */
const endpointModules = (root: string): Plugin => ({
  name: 'endpoint-modules',
  setup(build) {
    const filter = new RegExp(`^${bundledEndpoints}$`);
    build.onResolve({ filter }, ({ path }) => ({ path, namespace: 'endpoint-modules' }));
    build.onLoad({ filter, namespace: 'endpoint-modules' }, async () => {
      const folder = join(root, 'functions');
      const files = await endpointFiles(folder);
      const imports = files.map(
        (file, index) => `import * as module${index} from ${JSON.stringify(`./${file}`)};`,
      );
      const entries = files.map((file, index) => `${JSON.stringify(file)}: module${index}`);
      const contents = `${imports.join('\n')}\nexport const modules = { ${entries.join(', ')} };\n`;
      return { contents, loader: 'js', resolveDir: folder };
    });
  },
});

/** How long to wait for another process that builds. */
const patienceMilliseconds = 120_000;

/**
 * Take the build lock, so that only one of several starting processes builds. Return undefined if another process
 * holds it for too long, or if the file belongs to another user. Building the same bundle twice does no harm.
 */
function takeTurn(file: string): ReturnType<typeof takeKernelLock> {
  try {
    return takeKernelLock(file, patienceMilliseconds);
  } catch {
    return undefined;
  }
}

const [, , root = '', folder = ''] = process.argv;
const turn = takeTurn(`${dirname(folder)}.turn`);
if (!existsSync(folder)) await bundle(root, folder);
turn?.close();
