import { type Html, html } from '../../../shared/drawing/html.ts';

/** Commands of the guide, each with a description. A test runs each with `--help`. */
export const guideCommands: readonly (readonly [command: string, does: string])[] = [
  ['mps run', 'train the folder; -S name=value changes a value of its configuration'],
  ['mps ls', 'list experiments, newest first; --sort best puts the best first'],
  ['mps show', 'show the newest experiment, or the one with an ID: best and last values, params, files'],
  ['mps compare', 'compare the two newest experiments: their metrics and other differences'],
  ['mps logs -f', 'print the log and follow it'],
  ['mps pull', 'download the artifacts of an experiment'],
  ['mps cancel ID', 'cancel a training'],
  ['mps models push NAME FILE', 'upload an ONNX model, or register one from the artifacts of an experiment'],
  ['mps quantize NAME', 'make a model smaller; its receipt shows the loss of accuracy'],
];

const install = `npm install -g "$BASE/cli/mps.tgz"
mps login "$BASE"`;

const firstRun = `mps run -- python train.py --epochs 5
mps run -- python train.py --epochs 10
mps compare`;

const program = `import argparse, json, os

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
for epoch in range(parser.parse_args().epochs):
    loss = 1 / (epoch + 1)
    with open(os.environ["METRICS_FILE"], "a") as file:
        print(json.dumps({"step": epoch, "loss": loss}), file=file)`;

/** In braces, so a shell reads the whole pasted block before it asks for the password. */
const mlflow = `{
  printf 'User: '; read -r MLFLOW_TRACKING_USERNAME
  printf 'Password: '; read -rs MLFLOW_TRACKING_PASSWORD; echo
  export MLFLOW_TRACKING_USERNAME MLFLOW_TRACKING_PASSWORD
  export MLFLOW_TRACKING_URI="$BASE/mlflow"
  export MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD=true
  export MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE=4000000
  python train.py
}`;

const actions = `on: push
jobs:
  train:
    runs-on: ubuntu-latest
    permissions:
      contents: read
      id-token: write
    defaults:
      run:
        shell: bash # with pipefail
    env:
      MPS_URL: \${{ vars.MPS_URL }}
    steps:
      - uses: actions/checkout@v4
      - run: npm install -g "$MPS_URL/cli/mps.tgz"
      - run: mps run -p digits --json -- python train.py | tee log.txt
      - run: test "$(tail -n 1 log.txt | jq '.metrics.loss.last < 0.3')" = true`;

const signIn = `{
  printf 'User: '; read -r NAME
  printf 'Password: '; read -rs PASSWORD; echo
  TOKEN=$(curl -s "$BASE/auth/token" \\
    -d grant_type=password \\
    --data-urlencode "username=$NAME" \\
    --data-urlencode "password=$PASSWORD" |
    sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -H "Authorization: Bearer $TOKEN" "$BASE/users/me"
}`;

/**
 * A block of commands. With `base`, it begins with the address of the service, and the page's script fills in the
 * address.
 */
const shell = (text: string, { base = false } = {}): Html =>
  base
    ? html`<pre tabindex="0"><code class="curl">BASE=…    # the address of the service
${text}</code></pre>`
    : html`<pre tabindex="0"><code>${text}</code></pre>`;

const step = (id: string, title: string, text: Html, example: Html): Html =>
  html`<section id="${id}" class="step" aria-labelledby="${id}-title"><h2 id="${id}-title"><a class="anchor" href="#${id}">${title}</a></h2><div class="columns"><div>${text}</div><div class="samples">${example}</div></div></section>`;

/**
 * The guide in front of the reference. It leads from installation to a compared experiment, with links to more.
 */
export function guide(title: string, openapiHash: string): Html {
  const commands = guideCommands.map(
    ([command, does]) => html`<li><code class="name">${command}</code><span class="note">${does}</span></li>`,
  );
  return html`<section id="start" aria-labelledby="start-title"><h1 id="start-title">${title}</h1>
<p class="lead">Train a folder, see what it measured, and make its model smaller. The <a href="console">console</a> shows the same in the browser.</p></section>
${step(
  'install',
  'Install the command',
  html`<p>The command <code>mps</code> comes from this service and needs Node 20 or newer. <code>mps login</code> asks for your user name and password, and saves a token.</p>`,
  shell(install, { base: true }),
)}
${step(
  'first-run',
  'Train a folder',
  html`<p><code>mps run</code> creates a project for the current folder, uploads the files that <code>git</code> does not ignore, installs the declared dependencies, and follows the training. Any program works.</p>
<p>Write metrics to <code>METRICS_FILE</code>, one JSON object per line, and files to the folder <code>OUTPUT_DIR</code>. Numbers other than <code>step</code>, <code>epoch</code> and <code>time</code> become curves.</p>`,
  html`${shell(firstRun)}<h3 class="sample-title">A train.py to try it with</h3>${shell(program)}`,
)}
${step(
  'mlflow',
  'Keep your MLflow code',
  html`<p>Programs that log to MLflow need no change, wherever they run. Their runs appear next to the trainings in <code>mps ls</code> and in the console.</p>
<p><code>MLFLOW_EXPERIMENT_ID</code> is the ID of a project. Without it, runs go to the project <em>Default</em>. The last two variables make MLflow send large files in parts, because a deployment accepts at most 4.4 MB per request. Inside a training, all of these are already set.</p>`,
  shell(mlflow, { base: true }),
)}
${step(
  'commands',
  'The command mps',
  html`<p>Every command explains itself with <code>--help</code> and prints JSON with <code>--json</code>.</p><ul class="fields">${commands}</ul>`,
  html``,
)}
${step(
  'ci',
  'In CI',
  html`<p><code>mps ci trust add github OWNER/NAME --ref main --project digits --budget 20</code> lets the runs of a repository train in one project for at most US$ 20. No secret is stored: the job signs in with the identity token of GitHub Actions. It needs <code>MPS_URL</code>, and <code>mps run</code> exits with the code of the program. With <code>--json</code>, its last line is the experiment. The last step is a gate, which fails if the loss is not below 0.3.</p>`,
  html`<h3 class="sample-title">GitHub Actions</h3>${shell(actions)}`,
)}
${step(
  'api',
  'Call the API',
  html`<p>Exchange a user's password for a token, and send the token with every request. The examples of this reference use <code>$BASE</code> and <code>$TOKEN</code> as set here.</p>
<p>Every path works with and without a trailing slash, and HEAD works wherever GET does. Times are ISO 8601 in UTC, sizes are in bytes, and durations in seconds. Unknown and repeated parameters are refused.</p>
<p>Generate a client from the <a href="openapi.json?v=${openapiHash}">OpenAPI 3.1 document</a>.</p>`,
  shell(signIn, { base: true }),
)}`;
}
