import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { CommandError } from '../../command/command-error.ts';

/**
 * The template that `sam local` runs: the API and its functions out of the synthesized ones, for this machine's
 * processor, with the environment declared whose values a file gives.
 */
export function localTemplate(
  templates: readonly SynthesizedTemplate[],
  settings: LocalSettings,
): LocalTemplate {
  const kept: Record<string, Resource> = {};
  const served = operationRoutes(templates);
  for (const [id, resource] of templates.flatMap(({ Resources }) => Object.entries(Resources))) {
    const local = isCatchAll(resource, served) ? undefined : localResource(id, resource, settings);
    if (local === undefined) continue;
    if (kept[id] !== undefined) throw new Error(`two stacks have a resource ${id}`);
    kept[id] = local;
  }
  return { Resources: kept };
}

const Resource = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  Metadata: z.record(z.string(), z.unknown()).default({}),
});
type Resource = z.infer<typeof Resource>;

/** As much of a synthesized template as is read here. */
export const SynthesizedTemplate = z.object({ Resources: z.record(z.string(), Resource) });
export type SynthesizedTemplate = z.infer<typeof SynthesizedTemplate>;

interface LocalSettings {
  architecture: 'arm64' | 'x86_64';
  /** Names of the variables that every function gets; sam sets no others, and takes their values from its file. */
  variables: readonly string[];
  /** Folder that the template's assets lie in. */
  assets: string;
  /** Another folder for the code of an operation. */
  codeOf(operation: string, folder: string): string;
}

interface LocalTemplate {
  Resources: Readonly<Record<string, Resource>>;
}

/**
 * The routes, as their methods name them, of which a method has a function of its own. sam would let `ANY` answer for that
 * one, too; where it is the only one of its route, it is what serves the route.
 */
function operationRoutes(templates: readonly SynthesizedTemplate[]): Set<string> {
  const methods = templates.flatMap(({ Resources }) => Object.values(Resources)).filter(isMethod);
  const ofOperations = methods.filter(({ Properties }) => Properties['HttpMethod'] !== 'ANY');
  return new Set(ofOperations.map(routeOfMethod));
}

const isMethod = ({ Type }: Resource): boolean => Type === 'AWS::ApiGateway::Method';

const routeOfMethod = ({ Properties }: Resource): string => JSON.stringify(Properties['ResourceId']);

const isCatchAll = (resource: Resource, served: ReadonlySet<string>): boolean =>
  isMethod(resource) && resource.Properties['HttpMethod'] === 'ANY' && served.has(routeOfMethod(resource));

/** The parts of the API that sam needs; it does not run the others, and could not resolve them without an account. */
const api = /^AWS::ApiGateway::(RestApi|Resource|Method)$/;

/** A resource as sam runs it; undefined where it does not. */
function localResource(id: string, resource: Resource, settings: LocalSettings): Resource | undefined {
  if (resource.Type === 'AWS::Lambda::Function') {
    const operation = operationOf(resource);
    if (operation === undefined) throw new Error(`${id} has no path of the CDK`);
    return localFunction(resource, operation, settings);
  }
  return api.test(resource.Type) ? localApi(resource) : undefined;
}

/** The operation that a function serves. The CDK path of the function contains the operation's name. */
function operationOf({ Metadata }: Resource): string | undefined {
  const path = Metadata['aws:cdk:path'];
  return typeof path === 'string' ? path.split('/').at(-3) : undefined;
}

function localFunction(resource: Resource, operation: string, settings: LocalSettings): Resource {
  const { Properties, Metadata } = resource;
  const { FunctionName, Handler, Runtime, MemorySize, Timeout, Description, Code } = Properties;
  const folder = Metadata['aws:asset:path'];
  if (typeof folder !== 'string') throw new Error(`the function of ${operation} has no asset`);
  return {
    Type: resource.Type,
    Properties: {
      // Routes name functions by it; JSON leaves out the name of a function that has none.
      ...{ FunctionName, Handler, Runtime, MemorySize, Timeout, Description, Code },
      Architectures: [settings.architecture],
      Environment: { Variables: Object.fromEntries(settings.variables.map((name) => [name, ''])) },
    },
    Metadata: {
      // Its name in sam.
      SamResourceId: operation,
      'aws:asset:path': settings.codeOf(operation, join(settings.assets, folder)),
      'aws:asset:property': 'Code',
    },
  };
}

const Integration = z.looseObject({});

/** sam looks here, and not at the API itself, for the media types whose bytes are bytes. */
function localApi({ Type, Properties }: Resource): Resource {
  const integration = Integration.safeParse(Properties['Integration']);
  if (!integration.success) return { Type, Properties, Metadata: {} };
  const binary = { ContentHandling: 'CONVERT_TO_BINARY', ContentType: '*/*' };
  return {
    Type,
    Properties: { ...Properties, Integration: { ...integration.data, ...binary } },
    Metadata: {},
  };
}

const Settings = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

/** The stacks of which the API consists. */
const parts = ['functions', 'api'] as const;

/**
 * Synthesizes the stacks into `folder`, as the CDK's command line does, which passes the folder in these two
 * variables. Needs no account. Returns the templates of the API and of its functions.
 * @throws CommandError where the synthesis fails; it prints the reason itself
 */
export async function synthesize(root: string, folder: string): Promise<SynthesizedTemplate[]> {
  await rm(folder, { recursive: true, force: true });
  const { context } = Settings.parse(JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')));
  const variables = {
    CDK_OUTDIR: folder,
    CDK_CONTEXT_JSON: JSON.stringify({
      ...context,
      // Where the code of each function lies; without the metadata sam would look for it in a bucket.
      'aws:cdk:enable-asset-metadata': true,
      'aws:cdk:enable-path-metadata': true,
    }),
  };
  const { status } = spawnSync(process.execPath, [join(root, 'infra/aws/stacks/app.ts')], {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new CommandError('The stacks could not be synthesized.');
  const name = typeof context['name'] === 'string' ? context['name'] : 'model-project-service';
  return Promise.all(parts.map((part) => readTemplate(join(folder, `${name}-${part}.template.json`))));
}

async function readTemplate(file: string): Promise<SynthesizedTemplate> {
  return SynthesizedTemplate.parse(JSON.parse(await readFile(file, 'utf8')));
}
