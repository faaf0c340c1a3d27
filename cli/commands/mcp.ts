import { readFile, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { hasFileModes } from '../../shared/host/platform.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { isWithin } from '../run/source/source-root.ts';
import { command } from './command.ts';
import { text } from './flags.ts';

export const mcpCommand = command({
  brief: 'Serve tools to an agent, within the budget of a token',
  help: `A server of the Model Context Protocol on stdin and stdout, for a client that starts it in the folder to train. It needs a token with a scope. What the tools begin costs at most the budget of the token; no tool deletes anything.

Examples:
  mps tokens create agent --project digits --rights run --budget 20 --expires 8h --to ~/agent.token
  mps mcp --token ~/agent.token`,
  flags: { token: text('FILE', 'File with the token (default: MPS_TOKEN, else the saved login)') },
  async run({ token }) {
    const env =
      token === undefined
        ? this.env
        : { ...this.env, MPS_TOKEN: await tokenIn(resolve(this.folder, token), this.folder) };
    // Loaded only here: no other command needs the tools.
    const [{ openAgent }, { serveMcp }] = await Promise.all([
      import('../mcp/agent.ts'),
      import('../mcp/serve-mcp.ts'),
    ]);
    await serveMcp(await openAgent({ ...this, env }));
  },
});

/** Read a token as `mps tokens create --to` saves it. @throws CliError if others can read it */
async function tokenIn(file: string, folder: string): Promise<string> {
  const status = await stat(file).catch(() => undefined);
  if (status?.isFile() !== true)
    throw new CliError(`There is no file ${file} with a token.`, exitCodes.usage);
  if ((status.mode & 0o077) !== 0 && hasFileModes)
    throw new CliError(`Other users can read the token. Run: chmod 600 ${file}`, exitCodes.usage);
  if (isWithin(await realpath(file), await realpath(folder)))
    throw new CliError(
      `${file} lies in the folder that is trained, so every training would get the token. Move it out of ${folder}.`,
      exitCodes.usage,
    );
  return (await readFile(file, 'utf8')).trim();
}
