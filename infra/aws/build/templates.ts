import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';

/** Read the context of `cdk.json`: CDK flags and deployment options. */
export async function cdkContext(root: string): Promise<Record<string, unknown>> {
  return CdkFile.parse(JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8'))).context;
}

const CdkFile = z.object({ context: z.record(z.string(), z.unknown()) });

const Template = z.looseObject({
  Resources: z.record(
    z.string(),
    z.looseObject({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});
/** The used parts of a CloudFormation template. */
export type Template = z.infer<typeof Template>;

/** Synthesize the templates of a deployment by stack name, like `cdk synth` but without its command line. */
export async function synthesizeTemplates(
  root: string,
  context: Readonly<Record<string, unknown>>,
): Promise<Map<string, Template>> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-templates-'));
  try {
    const app = spawn(process.execPath, [join(root, 'infra/aws/stacks/app.ts')], {
      env: { ...process.env, CDK_OUTDIR: folder, CDK_CONTEXT_JSON: JSON.stringify(context) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = await once(app, 'close');
    if (code !== 0) throw new Error('the templates could not be synthesized');
    const templates = new Map<string, Template>();
    for await (const file of glob('*.template.json', { cwd: folder })) {
      const text = await readFile(join(folder, file), 'utf8');
      templates.set(file.replace('.template.json', ''), Template.parse(JSON.parse(text)));
    }
    return templates;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
