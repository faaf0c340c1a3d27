import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codecFolder, installPictureCodec } from '../../aws/build/picture-codec.ts';
import { CommandError } from '../../command/command-error.ts';
import { startEmulators } from '../../local/start/emulators/start-emulators.ts';
import { accountsTable, type EmulatorAccess, jobVariables } from '../../local/start/function-environment.ts';
import { checkSettings } from '../../local/start/start-options.ts';
import { loadEndpoints } from '../../service/endpoints.ts';
import { containerBridge } from './container-bridge.ts';
import { localTemplate, synthesize } from './local-template.ts';
import { freePort, startPathRelay } from './path-relay.ts';
import { type SamOptions, type SampleRequest, sampleEvent } from './sam-options.ts';

/**
 * Serve the synthesized API in containers with `sam local`, against this machine's emulators. Return the exit
 * code.
 */
export async function runSam(options: SamOptions): Promise<number> {
  checkSettings(process.env);
  if (spawnSync('sam', ['--version'], { stdio: 'ignore' }).status !== 0) {
    throw new CommandError('The AWS SAM CLI is missing: `pipx install aws-sam-cli`.');
  }
  const { listenOn, seenAs } = await containerBridge();
  await mkdir(folder, { recursive: true });
  const program = await bundle();
  await using started = new AsyncDisposableStack();
  const { access, firstAdmin, warnings } = await startEmulators(started, {
    dataFolder: options.dataFolder,
    program,
    host: listenOn,
    forContainers: true,
    corsOrigins: [],
  });
  for (const warning of warnings) process.stderr.write(`WARNING: ${warning}\n`);
  await writeFiles(functionVariables(access, seenAs, listenOn));
  if (options.invoke !== undefined) await writeEvent(options.invoke);
  if (firstAdmin?.password !== undefined) {
    process.stderr.write(
      `Created the user admin with the password ${firstAdmin.password} (kept in ${firstAdmin.passwordFile}).\n`,
    );
  }
  const samPort = await freePort();
  if (options.invoke === undefined) {
    started.use(await startPathRelay(options.port, samPort));
    process.stderr.write(
      `Listening on http://127.0.0.1:${options.port}, which forwards to sam's own port once sam is ready.\n`,
    );
  }
  const sam = startSam(options, samPort, access);
  // sam receives Ctrl-C itself and ends its containers. Then this process continues.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => sam.kill('SIGINT'));
  const [code] = await once(sam, 'exit');
  return typeof code === 'number' ? code : 1;
}

const root = join(import.meta.dirname, '../../..');

const folder = join(root, '.build/sam');

/** Bundle the S3 server and the jobs, which run on this machine. Return the folder. */
async function bundle(): Promise<string> {
  const program = join(folder, 'program');
  await rm(program, { recursive: true, force: true });
  const builder = join(root, 'infra/local/start/bundle.ts');
  const { status } = spawnSync(process.execPath, [builder, root, program], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new CommandError('The jobs could not be bundled.');
  return program;
}

const files = {
  template: join(folder, 'template.json'),
  environment: join(folder, 'environment.json'),
  event: join(folder, 'event.json'),
};

async function writeFiles(variables: Readonly<Record<string, string>>): Promise<void> {
  const codec = new HostCodec(join(folder, 'code'));
  const assets = join(folder, 'cdk.out');
  const template = localTemplate(await synthesize(root, assets), {
    architecture: process.arch === 'arm64' ? 'arm64' : 'x86_64',
    variables: Object.keys(variables),
    assets,
    codeOf: (operation, from) => codec.codeOf(operation, from),
  });
  await codec.fill(root);
  await writeFile(files.template, JSON.stringify(template, null, 2));
  await writeFile(files.environment, JSON.stringify({ Parameters: variables }, null, 2), { mode: 0o600 });
}

/**
 * Copies assets that contain machine code, and replaces it with code for this machine's processor: containers of
 * another processor do not run here. Copies only requested operations.
 *
 * @param into new folder for the copies
 */
export class HostCodec {
  readonly #into: string;
  readonly #copied = new Map<string, string>();

  constructor(into: string) {
    this.#into = into;
  }

  /** Return the folder to run an operation's code from. */
  codeOf(operation: string, folder: string): string {
    // Other assets have no such code, or that of this processor already.
    if (process.arch === 'arm64' || !existsSync(join(folder, 'node_modules/@img/sharp-linux-arm64')))
      return folder;
    const copy = join(this.#into, operation);
    this.#copied.set(folder, copy);
    return copy;
  }

  /** Make the copies. @throws if npm cannot fetch the codec */
  async fill(root: string): Promise<void> {
    if (this.#copied.size === 0) return;
    const codec = await codecFolder(root, 'x64');
    if (!existsSync(codec)) await installPictureCodec(root, codec, 'x64');
    for (const [folder, copy] of this.#copied) {
      await cp(join(folder, 'index.mjs'), join(copy, 'index.mjs'), { recursive: true });
      await cp(join(codec, 'node_modules'), join(copy, 'node_modules'), { recursive: true });
    }
  }
}

/** sam passes these variables from its own environment. */
const givenBySam = /^AWS_/;

/** Return the variables of every function, with the emulators' addresses for containers. */
function functionVariables(access: EmulatorAccess, seenAs: string, listenOn: string): Record<string, string> {
  const all = { ...jobVariables(process.env, access), ACCOUNTS_TABLE: accountsTable };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => !givenBySam.test(name))
      .map(([name, value]) => [name, value.replace(`//${listenOn}:`, `//${seenAs}:`)]),
  );
}

async function writeEvent(request: SampleRequest): Promise<void> {
  const endpoints = await loadEndpoints(join(root, 'functions'));
  const found = endpoints.find(({ endpoint }) => endpoint.name === request.operation);
  if (found === undefined) {
    const names = endpoints.map(({ endpoint }) => endpoint.name).sort();
    throw new CommandError(`There is no operation ${request.operation}. There are: ${names.join(', ')}.`);
  }
  await writeFile(files.event, JSON.stringify(sampleEvent(found.endpoint, request), null, 2));
}

function startSam(options: SamOptions, port: number, { region, credentials }: EmulatorAccess): ChildProcess {
  const { PATH, HOME, DOCKER_HOST } = process.env;
  return spawn('sam', samArguments(options, port), {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...{ PATH, HOME, DOCKER_HOST },
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      SAM_CLI_TELEMETRY: '0',
    },
  });
}

function samArguments({ invoke, more }: SamOptions, port: number): string[] {
  const common = ['--template', files.template, '--env-vars', files.environment, ...more];
  if (invoke !== undefined) return ['local', 'invoke', invoke.operation, '--event', files.event, ...common];
  // Keep a container for every operation after its first request.
  return ['local', 'start-api', '--port', String(port), '--warm-containers', 'LAZY', ...common];
}
