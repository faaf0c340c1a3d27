import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { readOptions } from '../../../infra/aws/options/deployment-options.ts';
import { addService, type ServiceStacks } from '../../../infra/aws/stacks/service.ts';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import { anyMethod } from '../../../infra/service/routes.ts';
import { loadTasks } from '../../../infra/service/tasks.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';

const root = join(import.meta.dirname, '../../..');

/** A resource as its template has it. */
export interface Resource {
  stack: string;
  id: string;
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into resources of any shape
  Properties: any;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

export interface Deployment {
  app: App;
  stacks: ServiceStacks;
  resources: readonly Resource[];
  of(type: string): Resource[];
  /** The one resource of this type whose id begins so. */
  one(type: string, id: string): Resource;
}

const functions = join(root, 'functions');
export const endpoints = (await loadEndpoints(functions)).map(({ endpoint }) => endpoint);
export const events = await loadTasks(functions, 'event');
export const jobs = await loadTasks(functions, 'job');

/** A method of the API as its document has it. */
export interface ApiMethod {
  method: string;
  resource: string;
  uri: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into integrations of any shape
  integration: any;
}

/** The document of the API of a deployment. */
export const apiBody = (service: Deployment) =>
  service.one('AWS::ApiGateway::RestApi', 'Api').Properties.Body;

/** The methods of the API of a deployment, `ANY` for those that have no function of their own. */
export function apiMethods(service: Deployment): ApiMethod[] {
  const paths: Record<string, Record<string, Record<string, unknown>>> = apiBody(service).paths;
  const methods = Object.entries(paths).flatMap(([resource, operations]) =>
    Object.entries(operations).map(([key, { 'x-amazon-apigateway-integration': integration }]): ApiMethod => {
      const { uri } = integration as { uri: unknown };
      const method = key === anyMethod ? 'ANY' : key.toUpperCase();
      return { method, resource, uri: JSON.stringify(uri), integration };
    }),
  );
  if (methods.length === 0) throw new Error('the API has no method');
  return methods;
}

/** The settings that a function of the API gets, with those that its stack says once. */
export function settingsOf(service: Deployment, functionId: string): Record<string, string> {
  const { stack, Properties } = service.one('AWS::Lambda::Function', functionId);
  const { SETTINGS, ...own } = Properties.Environment.Variables;
  const [mapping, first, second]: string[] = SETTINGS['Fn::FindInMap'];
  const { Mappings } = service.app.synth().getStackByName(stack).template;
  const lines: string[] = Mappings[mapping!][first!][second!].split('\n');
  return { ...Object.fromEntries(lines.map((line) => /^([^=]*)=(.*)$/.exec(line)!.slice(1))), ...own };
}

/** Options that add all there can be, for the tests that look at it: each synthesis takes a second or two. */
export const equipped = {
  spot: true,
  gpuInstanceTypes: 'g4dn.xlarge',
  trustedImages: '111122223333.dkr.ecr.eu-central-1.amazonaws.com/own/image:1',
  alarmEmail: 'ops@example.org',
  hookMail: 'ada@example.org,grace@example.org',
  monthlyBudget: '120',
  corsOrigins: 'https://app.example',
  bucketVersioning: true,
};

const synthesized = new Map<string, Promise<Deployment>>();

/**
 * The templates of a deployment with these options, as `cdk synth` makes them, but of bundles and an image that are
 * empty: nothing in a template depends on what is in them. Those of the same options are made once.
 */
export function deployment(context: Readonly<Record<string, unknown>> = {}): Promise<Deployment> {
  const key = JSON.stringify(context);
  const made = synthesized.get(key) ?? synthesize(context, endpoints);
  synthesized.set(key, made);
  return made;
}

/** The same of these endpoints. */
export async function synthesize(
  context: Readonly<Record<string, unknown>>,
  served: readonly AnyEndpoint[],
): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-deployment-'));
  try {
    return await synthesizeInto(folder, context, served);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function synthesizeInto(
  folder: string,
  context: Readonly<Record<string, unknown>>,
  served: readonly AnyEndpoint[],
): Promise<Deployment> {
  const bundle = join(folder, 'bundle');
  await mkdir(bundle);
  await writeFile(join(bundle, 'index.mjs'), '');
  await writeFile(join(bundle, 'Dockerfile'), 'FROM scratch\n');
  const { context: flags } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8'));
  const app = new App({
    outdir: join(folder, 'out'),
    context: { ...flags, ...context },
    stackTraces: false,
    treeMetadata: false,
  });
  const parts = { endpoints: served, events, jobs, folderOf: () => bundle, imageFolder: bundle };
  const stacks = addService(app, parts, readOptions(app.node.getAllContext()));
  const resources = app.synth().stacks.flatMap(({ stackName, template }) =>
    Object.entries<Omit<Resource, 'id' | 'stack'>>(template.Resources).map(([id, resource]) => ({
      ...resource,
      id,
      stack: stackName,
      Properties: resource.Properties ?? {},
    })),
  );
  const of = (type: string) => resources.filter(({ Type }) => Type === type);
  return {
    app,
    stacks,
    resources,
    of,
    one(type, id) {
      const found = of(type).filter((resource) => resource.id.startsWith(id));
      if (found.length !== 1) throw new Error(`${found.length} resources ${id} of type ${type}`);
      return found[0]!;
    },
  };
}
