import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs, promisify } from 'node:util';
import { compareWithOptimum, type Exported, isAsGood, rowText } from './compare-optimum.ts';
import { compareTokenizers } from './compare-tokenizers.ts';

/*
 * Small models of many architectures behind a Hub of this machine, which huggingface_hub and transformers fetch as they fetch
 * those of huggingface.co: each goes through the exporter. Then what cannot be exported, with the reason that its user reads.
 * Beside it, if asked: the tokenizer of serving beside the Rust library, and the quantized models beside Optimum's.
 */
const { values: flags } = parseArgs({
  options: {
    python: { type: 'string' },
    only: { type: 'string' },
    folder: { type: 'string' },
    tokenizers: { type: 'boolean', default: false },
    optimum: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (flags.help) {
  console.log(`Usage: npm run proof -- exports [flags]
  --python PATH   with the packages of shared/exports/requirements.txt
  --only NAMES    such as bert,gated
  --folder PATH   where to keep what is made
  --optimum PATH  Python with optimum-onnx 0.1 (and its transformers): quantizes each model there, too
  --tokenizers    compares tokenizers alone`);
  process.exit(0);
}

const run = promisify(execFile);
const here = import.meta.dirname;
const exporter = join(here, '../../../shared/exports');
const commit = `${'c0ffee'.repeat(6)}c0de`;
const token = 'hf_reader';

/** What is refused, and its code. A name may stand for several settings or tokens. */
const refusals: readonly [name: string, code: string, change?: Change][] = [
  ['refused/adapter', 'adapter'],
  ['refused/gguf', 'gguf'],
  ['refused/awq', 'quantized'],
  ['refused/no-config', 'no-config'],
  ['refused/pickle', 'pickle'],
  ['refused/unknown', 'unknown-architecture'],
  ['refused/remote-code', 'remote-code'],
  ['refused/own-code', 'remote-code'],
  ['refused/causal', 'unsupported-task'],
  ['refused/seq2seq', 'unsupported-task'],
  ['refused/random-head', 'no-weights', { task: 'text-classification' }],
  ['refused/gated', 'gated'],
  ['refused/gated', 'gated', { token: 'hf_stranger' }],
  ['refused/limited', 'hub-away'],
  ['refused/away', 'hub-away'],
  ['refused/huge', 'too-large'],
  ['refused/longer', 'bad-file'],
  ['refused/page', 'hub-away'],
  ['refused/circle', 'hub-away'],
  ['refused/moved', 'hub-away', { token }],
  ['refused/torn', 'bad-weights'],
  ['refused/no-tokenizer', 'no-tokenizer'],
  ['refused/no-vocabulary', 'no-tokenizer'],
  ['refused/absent', 'not-found'],
  ['made/bert', 'revision-not-found', { revision: '0'.repeat(40) }],
];

interface Change {
  task?: string;
  token?: string;
  revision?: string;
  trust?: boolean;
}

interface Report {
  task: string;
  way: string;
  tried: { way: string; reason: string }[];
  equality: { largest_difference: number; output: string };
}

type Outcome =
  | { exported: Report; out: string }
  | { error: { code: string; message: string }; stderr: string };

const folder = flags.folder ?? (await mkdtemp(join(tmpdir(), 'exports-')));
await mkdir(folder, { recursive: true });
const python = flags.python ?? (await newPython(join(folder, 'python')));
const asked = flags.only?.split(',');
if (flags.tokenizers) {
  await proveTokenizers();
  if (flags.folder === undefined) await rm(folder, { recursive: true, force: true });
  process.exit();
}
const repositories = join(folder, 'repositories');
if (!existsSync(repositories))
  await run(python, [join(here, 'make_models.py'), repositories], { maxBuffer: 10_000_000 });
const { names } = JSON.parse(await readFile(join(repositories, 'models.json'), 'utf8'));
const hub = spawn(python, [join(here, 'hub.py'), repositories], { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface({ input: hub.stdout })[Symbol.asyncIterator]();
const port = (await lines.next()).value;
const faults: string[] = [];
const compared: Exported[] = [];
try {
  let equal = 0;
  const wanted = (name: string) => asked === undefined || asked.includes(name.split('/').at(-1) ?? '');
  console.log('| model | task | way | largest difference | what other ways lacked |\n|---|---|---|---|---|');
  // Those below `refused/` are exported with what they ask for: a token, patience, trust.
  const allowed = ['refused/gated', 'refused/renamed', 'refused/flaky', 'refused/own-code'];
  const models: string[] = [...names.map((name: string) => `made/${name}`), ...allowed];
  for (const name of models.filter(wanted)) {
    const outcome = await exportModel(name, { token, trust: name === 'refused/own-code' });
    if ('error' in outcome) {
      if (allowed.includes(name)) faults.push(`${name}: ${outcome.error.message}`);
      console.log(`| ${name} | | refused: ${outcome.error.code} | | ${outcome.error.message} |`);
      continue;
    }
    const { task, way, tried, equality } = outcome.exported;
    equal += 1;
    if (name.startsWith('made/'))
      compared.push({ name, task, repository: join(repositories, name), out: outcome.out });
    const lacked = tried.map((one) => `${one.way}: ${one.reason}`).join('; ');
    console.log(
      `| ${name} | ${task} | ${way} | ${equality.largest_difference.toExponential(1)} | ${lacked} |`,
    );
  }
  if (asked === undefined && equal < 18) faults.push(`only ${equal} models equal PyTorch`);
  console.log('\n| refused | code | what its user reads |\n|---|---|---|');
  for (const [name, code, change = {}] of refusals.filter(([one]) => wanted(one))) {
    const outcome = await exportModel(name, change);
    if (!('error' in outcome)) {
      faults.push(`${name} was exported`);
      continue;
    }
    const { error, stderr } = outcome;
    console.log(`| ${name} | ${error.code} | ${error.message} |`);
    if (error.code !== code) faults.push(`${name}: ${error.code}, not ${code}`);
    if (stderr.trim().split('\n').at(-1) !== error.message)
      faults.push(`${name}: its last line is not the reason`);
    if (change.token !== undefined && `${stderr}${error.message}`.includes(change.token))
      faults.push(`${name}: the token is in the error`);
  }
  if (flags.optimum !== undefined) await proveOptimum(flags.optimum);
  if (existsSync(join(repositories, 'refused/pickle-ran'))) faults.push('a pickle was run');
} finally {
  hub.stdin.end('\n');
  const counted = JSON.parse((await lines.next()).value ?? '{}');
  console.log(`\nThe Hub counted ${JSON.stringify(counted)}.`);
  if (counted.tokens_beyond_the_hub > 0) faults.push('the token went beyond the Hub');
  await once(hub, 'exit');
  if (flags.folder === undefined) await rm(folder, { recursive: true, force: true });
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

async function exportModel(name: string, change: Change): Promise<Outcome> {
  const out = await mkdtemp(join(folder, 'out-'));
  const settings = join(out, 'settings.json');
  const { HF_TOKEN: _, ...env } = process.env;
  await writeFile(
    settings,
    JSON.stringify({
      source: { hf: name, revision: change.revision ?? commit },
      task: change.task ?? null,
      texts: null,
      labels: null,
      trust_remote_code: change.trust === true,
    }),
  );
  try {
    await run(python, [join(exporter, 'program/export.py'), settings, out], {
      env: {
        ...env,
        HF_ENDPOINT: `http://127.0.0.1:${port}`,
        ...(change.token !== undefined && { HF_TOKEN: change.token }),
      },
      maxBuffer: 10_000_000,
    });
    return { exported: JSON.parse(await readFile(join(out, 'export.json'), 'utf8')), out };
  } catch (error) {
    const stderr = (error as { stderr?: string }).stderr ?? '';
    const text = await readFile(join(out, 'error.json'), 'utf8').catch(() => undefined);
    if (text === undefined) throw error;
    return { error: JSON.parse(text), stderr };
  } finally {
    if (flags.folder === undefined && flags.optimum === undefined)
      await rm(out, { recursive: true, force: true });
  }
}

async function proveOptimum(optimum: string): Promise<void> {
  console.log(
    '\n| model | Optimum | loss | error | ours | loss | error | not exported by Optimum |\n|---|---|---|---|---|---|---|---|',
  );
  let good = 0;
  for (const model of compared) {
    const row = await compareWithOptimum(model, { python, optimum });
    if (isAsGood(row)) good += 1;
    console.log(rowText(row));
  }
  console.log(`\n${good} of ${compared.length} are no larger than Optimum's and lose no more.`);
  if (asked === undefined && good < 16) faults.push(`only ${good} models are as good as Optimum's`);
}

async function proveTokenizers(): Promise<void> {
  const made = join(folder, 'tokenizers');
  await mkdir(made, { recursive: true });
  await run(python, [join(here, 'make_tokenizers.py'), made, '65', ...(asked ?? [])]);
  const kinds = (await readdir(made, { withFileTypes: true })).flatMap((one) =>
    one.isDirectory() ? [one.name] : [],
  );
  console.log('| tokenizer | strings | differ | the shortest |\n|---|---|---|---|');
  for (const row of await compareTokenizers(made, kinds)) {
    const { kind, strings, differ, shortest } = row;
    console.log(
      `| ${kind} | ${strings} | ${differ} | ${shortest === undefined ? '' : JSON.stringify(shortest)} |`,
    );
    if (differ > strings / 1_000) process.exitCode = 1;
  }
}

async function newPython(into: string): Promise<string> {
  await run('python3', ['-m', 'venv', into]);
  const pip = ['install', '--quiet', '-r', join(exporter, 'requirements.txt')];
  await run(join(into, 'bin/pip'), pip, { maxBuffer: 10_000_000 });
  return join(into, 'bin/python');
}
