// The engine as it is packed with the command `mps`, for any machine: the library that runs models is large and native, so it
// is installed by who needs it.
import { fileURLToPath } from 'node:url';

/** The bundler puts it in. */
declare const runtimeVersion: string;

/** That of the package, where the library is looked for first. */
const folder = fileURLToPath(new URL('..', import.meta.url));

function lacking(): string | undefined {
  if (typeof Float16Array === 'undefined')
    return `mps measure needs Node 24 or newer; this is ${process.version}.`;
  try {
    import.meta.resolve('onnxruntime-node');
    return undefined;
  } catch {
    return `mps measure runs models with onnxruntime-node, which is not installed beside mps: npm install --prefix ${JSON.stringify(folder)} onnxruntime-node@${runtimeVersion} --onnxruntime-node-install=skip`;
  }
}

const fault = lacking();
if (fault === undefined) {
  const { runCommand } = await import('./command.ts');
  await runCommand(fileURLToPath(new URL('stage.js', import.meta.url)));
} else {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}
