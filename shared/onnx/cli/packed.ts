// Entry point of the engine in the `mps` package, which runs on any machine. The package leaves out
// onnxruntime-node, because that library is large and native. Users install it themselves.
import { fileURLToPath } from 'node:url';

/** Defined by the bundler. */
declare const runtimeVersion: string;

/** Folder of the package. Node resolves onnxruntime-node from here first. */
const folder = fileURLToPath(new URL('..', import.meta.url));

function lacking(): string | undefined {
  if (typeof Float16Array === 'undefined')
    return `mps measure needs Node 24 or newer; this is ${process.version}. Install a newer one, then run the same command.`;
  try {
    import.meta.resolve('onnxruntime-node');
    return undefined;
  } catch {
    return `mps measure runs models with onnxruntime-node, which is not installed. Run: npm install --prefix ${JSON.stringify(folder)} onnxruntime-node@${runtimeVersion} --onnxruntime-node-install=skip`;
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
