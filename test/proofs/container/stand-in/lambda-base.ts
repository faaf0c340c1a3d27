import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runProgram, succeeds } from '../run-program.ts';
import { standInNodeBase } from './node-base.ts';

/** AWS's own interface between Lambda's runtime API and a function in Node. Its native part is built from source. */
const runtimeInterface = 'aws-lambda-ric@4.0.2';

const dockerfile = (base: string) => `FROM ${base} AS runtime
RUN apt-get update \\
  && apt-get install -y --no-install-recommends cmake g++ make python3 xz-utils
COPY include /usr/local/node/include/
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
RUN npm_config_nodedir=/usr/local/node npm install --prefix /var/runtime --no-audit --no-fund ${runtimeInterface}

FROM ${base}
COPY --from=runtime /var/runtime /var/runtime/
COPY bootstrap /var/runtime/
ENV LANG=en_US.UTF-8 TZ=:UTC LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime
WORKDIR /var/task
`;

const bootstrap = `#!/bin/sh
exec node /var/runtime/node_modules/aws-lambda-ric/index.mjs "$_HANDLER"
`;

/** Builds, once, what stands for Lambda's base image of Node 24: Debian, Node and AWS's runtime interface client. */
export async function standInLambdaBase(cache: string, version: string): Promise<string> {
  const tag = `model-project-service-test/lambda-node:${version}`;
  if (succeeds('docker', ['image', 'inspect', tag])) return tag;
  const base = await standInNodeBase(cache, version);
  const context = await mkdtemp(join(tmpdir(), 'mps-lambda-'));
  try {
    // Beside the program, as Node's own archives have it.
    await cp(join(dirname(process.execPath), '../include'), join(context, 'include'), { recursive: true });
    await writeFile(join(context, 'bootstrap'), bootstrap, { mode: 0o755 });
    await writeFile(join(context, 'Dockerfile'), dockerfile(base));
    runProgram('docker', ['build', '--quiet', '--tag', tag, context]);
  } finally {
    await rm(context, { recursive: true, force: true });
  }
  return tag;
}
