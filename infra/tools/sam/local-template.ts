import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { CommandError } from '../../command/command-error.ts';
import { anyMethod } from '../../service/routes.ts';

/**
 * Make the template for `sam local`: the API and its functions from the synthesized templates, for this machine's
 * processor. It declares the environment variables, and a file has their values.
 */
export function localTemplate(
  templates: readonly SynthesizedTemplate[],
  settings: LocalSettings,
): LocalTemplate {
  const kept: Record<string, Resource> = {};
  for (const [id, resource] of templates.flatMap(({ Resources }) => Object.entries(Resources))) {
    for (const [localId, local] of localResources(id, resource, settings)) {
      if (kept[localId] !== undefined) throw new Error(`two stacks have a resource ${localId}`);
      kept[localId] = local;
    }
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

/** Return what sam runs of a resource. It cannot resolve other resources without an account. */
function localResources(id: string, resource: Resource, settings: LocalSettings): [string, Resource][] {
  if (resource.Type === 'AWS::Lambda::Function') {
    const operation = operationOf(resource);
    if (operation === undefined) throw new Error(`${id} has no path of the CDK`);
    return [[id, localFunction(resource, operation, settings)]];
  }
  return resource.Type === 'AWS::ApiGateway::RestApi' ? localApi(id, resource) : [];
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

const ApiBody = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        'x-amazon-apigateway-integration': z.object({
          type: z.string(),
          httpMethod: z.string(),
          uri: z.unknown(),
        }),
      }),
    ),
  ),
});

/**
 * Unfold the document of an API into the resources that sam reads: an API, and its paths and methods. In a method, sam
 * reads the binary types, which it does not read from a document.
 */
function localApi(id: string, { Type, Properties }: Resource): [string, Resource][] {
  const { paths } = ApiBody.parse(Properties['Body']);
  const api = { Ref: id };
  const unfolded: [string, Resource][] = [
    [id, { Type, Properties: { Name: Properties['Name'] }, Metadata: {} }],
  ];
  const resources = new Map<string, unknown>([['', { 'Fn::GetAtt': [id, 'RootResourceId'] }]]);
  const resourceAt = (path: string): unknown => {
    const present = resources.get(path);
    if (present !== undefined) return present;
    const end = path.lastIndexOf('/');
    const ParentId = resourceAt(path.slice(0, end));
    const own = `${id}Path${resources.size}`;
    const parts = { RestApiId: api, ParentId, PathPart: path.slice(end + 1) };
    unfolded.push([own, { Type: 'AWS::ApiGateway::Resource', Properties: parts, Metadata: {} }]);
    resources.set(path, { Ref: own });
    return { Ref: own };
  };
  for (const [path, operations] of Object.entries(paths)) {
    const ResourceId = resourceAt(path === '/' ? '' : path);
    for (const [method, operation] of Object.entries(localOperations(operations))) {
      const { httpMethod, uri } = operation['x-amazon-apigateway-integration'];
      const Integration = {
        Type: 'AWS_PROXY',
        IntegrationHttpMethod: httpMethod,
        Uri: uri,
        ContentHandling: 'CONVERT_TO_BINARY',
        ContentType: '*/*',
      };
      const HttpMethod = method === anyMethod ? 'ANY' : method.toUpperCase();
      const Method = { RestApiId: api, ResourceId, HttpMethod, Integration };
      unfolded.push([
        `${id}Method${unfolded.length}`,
        { Type: 'AWS::ApiGateway::Method', Properties: Method, Metadata: {} },
      ]);
    }
  }
  return unfolded;
}

/** sam would let `ANY` answer for the other methods of its path, too. */
function localOperations<Operation>(operations: Record<string, Operation>): Record<string, Operation> {
  const { [anyMethod]: _, ...own } = operations;
  return Object.keys(own).length > 0 ? own : operations;
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
