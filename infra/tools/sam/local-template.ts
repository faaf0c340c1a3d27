import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { CommandError } from '../../command/command-error.ts';

/**
 * Make the template for `sam local`: the API and its functions from the synthesized templates, for this machine's
 * processor. It declares the environment variables, and a file has their values.
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

/** The used part of a synthesized template. */
export const SynthesizedTemplate = z.object({ Resources: z.record(z.string(), Resource) });
export type SynthesizedTemplate = z.infer<typeof SynthesizedTemplate>;

interface LocalSettings {
  architecture: 'arm64' | 'x86_64';
  /** Names of the variables of every function. sam sets no others, and reads their values from its file. */
  variables: readonly string[];
  /** Folder of the template's assets. */
  assets: string;
  /** Return the folder with the code of an operation. */
  codeOf(operation: string, folder: string): string;
}

interface LocalTemplate {
  Resources: Readonly<Record<string, Resource>>;
}

/**
 * Return the routes that have a method with its own function. sam would let `ANY` answer for that method too. If
 * `ANY` is the only method of its route, it serves the route.
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

/** The API resources that sam needs. It does not run the others, and cannot resolve them without an account. */
const api = /^AWS::ApiGateway::(RestApi|Resource|Method)$/;

/** Convert a resource for sam. Return undefined if sam does not run it. */
function localResource(id: string, resource: Resource, settings: LocalSettings): Resource | undefined {
  if (resource.Type === 'AWS::Lambda::Function') {
    const operation = operationOf(resource);
    if (operation === undefined) throw new Error(`${id} has no path of the CDK`);
    return localFunction(resource, operation, settings);
  }
  return api.test(resource.Type) ? localApi(resource) : undefined;
}

/** Return the operation of a function. The CDK path of the function contains the operation's name. */
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
      // Routes refer to functions by name. JSON omits an undefined name.
      ...{ FunctionName, Handler, Runtime, MemorySize, Timeout, Description, Code },
      Architectures: [settings.architecture],
      Environment: { Variables: Object.fromEntries(settings.variables.map((name) => [name, ''])) },
    },
    Metadata: {
      // Function name in sam.
      SamResourceId: operation,
      'aws:asset:path': settings.codeOf(operation, join(settings.assets, folder)),
      'aws:asset:property': 'Code',
    },
  };
}

const Integration = z.looseObject({});

/** sam reads the binary media types from the method, not from the API itself. */
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

/** The stacks of the API. */
const parts = ['functions', 'api'] as const;

/**
 * Synthesize the stacks into `folder`, with the environment variables of the CDK's command line. This needs no
 * account. Return the templates of the API and of its functions.
 * @throws CommandError if the synthesis fails; it prints the reason itself
 */
export async function synthesize(root: string, folder: string): Promise<SynthesizedTemplate[]> {
  await rm(folder, { recursive: true, force: true });
  const { context } = Settings.parse(JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')));
  const variables = {
    CDK_OUTDIR: folder,
    CDK_CONTEXT_JSON: JSON.stringify({
      ...context,
      // Include the location of each function's code. Without the metadata, sam would look for it in a bucket.
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
