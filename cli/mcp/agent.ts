import { realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { endpoint as listTokens } from '../../functions/auth/list-tokens.endpoint.ts';
import type { endpoint as readStart } from '../../functions/service/read-start.endpoint.ts';
import { consoleLink, consoleOf } from '../../shared/client/console-link.ts';
import type { RowOf } from '../../shared/client/route.ts';
import { quoteCommand } from '../../shared/command/quote-command.ts';
import { type TokenRight, tokenRights } from '../../shared/data/accounts/token-rights.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { checkoutFolder, dataFolderOf } from '../login/checkout.ts';
import { connect, type Session } from '../login/connect.ts';
import { loginFile } from '../login/saved-logins.ts';
import { Printer } from '../output/printer.ts';
import { findProject, type Project, projectName } from '../projects/find-project.ts';
import { readProjectFile } from '../projects/project-file.ts';
import { isWithin } from '../run/source/source-root.ts';
import { SpendLedger } from './spend-ledger.ts';

type Token = RowOf<typeof listTokens>;

/** Who calls the tools: a token with a scope, in a folder. */
export class Agent {
  readonly session: Session;
  readonly ledger: SpendLedger;
  /** Whether jobs of the service cost anything. */
  readonly isPriced: boolean;
  readonly rights: TokenRight;
  /** Prints nowhere: stdout belongs to the protocol. */
  readonly printer: Printer;
  readonly #folder: string;
  readonly #projects: readonly string[] | null;

  constructor(session: Session, token: Token & { scope: object }, folder: string, isPriced: boolean) {
    this.session = session;
    this.isPriced = isPriced;
    this.rights = token.scope.rights;
    this.#projects = token.scope.projects;
    this.#folder = folder;
    const nowhere = { write: () => true };
    this.printer = new Printer({ stdout: nowhere, stderr: nowhere, env: {} });
    this.ledger = new SpendLedger(session, token.token_id);
  }

  /** Whether the token has at least this right. */
  may(right: TokenRight): boolean {
    return tokenRights.indexOf(this.rights) >= tokenRights.indexOf(right);
  }

  /** Return the facts of the token as they are now. */
  readToken(): Promise<Token> {
    return currentToken(this.session);
  }

  /**
   * Return the absolute path of a folder or file below the one that `mps mcp` was started in, links resolved.
   * @throws CliError for any other
   */
  async pathBelow(below = '.'): Promise<string> {
    const base = await realpath(this.#folder);
    const path = await realpath(resolve(base, below)).catch(() => undefined);
    if (path !== undefined && isWithin(path, base)) return path;
    throw new CliError(
      `${below} is not below ${base}, where mps mcp was started. Give a path relative to that folder, such as ".".`,
      exitCodes.usage,
    );
  }

  /**
   * Return the folder to train: below the one that `mps mcp` was started in, and sending nothing above that.
   * @throws CliError for any other
   */
  async trainedFolder(below: string | undefined): Promise<string> {
    const folder = await this.pathBelow(below);
    if (!(await stat(folder)).isDirectory()) throw new CliError(`${below} is no folder.`, exitCodes.usage);
    const { root } = await readProjectFile(folder);
    if (root !== undefined)
      await this.pathBelow(relative(await realpath(this.#folder), resolve(folder, root)) || '.');
    return folder;
  }

  /** Return what names the project of a call: the given one, the folder's, or the only one that the token reaches. */
  async projectOf(named: string | undefined, folder = this.#folder): Promise<string> {
    if (named !== undefined) return named;
    const [only, ...others] = this.#projects ?? [];
    return only !== undefined && others.length === 0 ? only : projectName(folder);
  }

  /** The project to pass on to what reads a folder: undefined leaves the choice, and its questions, to the folder. */
  async namedProject(named: string | undefined, folder: string): Promise<string | undefined> {
    return named ?? (this.#projects?.length === 1 ? this.projectOf(undefined, folder) : undefined);
  }

  /** @throws CliError if there is none */
  async requireProject(named: string | undefined): Promise<Project> {
    const name = await this.projectOf(named);
    const project = await findProject(this.session, name);
    if (project !== undefined) return project;
    throw new CliError(
      `There is no project "${name}" that this token reaches. The tools run and sweep create it; or give project.`,
    );
  }

  /** Return the address of a page of the console. */
  page(...parts: readonly string[]): string {
    return consoleLink(consoleOf(this.session.client.url), parts);
  }
}

/**
 * Refuse a folder with the tokens of the user, such as the home folder: a training would get them, and its log shows an
 * agent what it prints.
 */
async function refuseTokensIn({ env, folder }: CliContext): Promise<void> {
  const checkout = checkoutFolder(env);
  const secrets = [dirname(loginFile(env)), ...(checkout === undefined ? [] : [dataFolderOf(checkout)])];
  const base = await realpath(folder);
  for (const secret of secrets) {
    const path = await realpath(secret).catch(() => resolve(secret));
    if (isWithin(path, base))
      throw new CliError(
        `${path} lies in ${base}, so every training would get the tokens in it. Start mps mcp in the folder to train.`,
        exitCodes.usage,
      );
  }
}

/**
 * Open the session of an agent.
 * @throws CliError for a folder with tokens, for a token that may do everything, or whose work nothing bounds
 */
export async function openAgent(context: CliContext): Promise<Agent> {
  const { env, folder } = context;
  await refuseTokensIn(context);
  const session = await connect(env);
  const token = await currentToken(session);
  const { priced } = await session.client.call<typeof readStart>('GET /');
  const advice = async () => {
    const name = await projectName(folder);
    const known = await findProject(session, name).catch(() => undefined);
    const project = known === undefined ? [] : ['--project', known.project_name];
    const budget = priced ? ['--budget', '20'] : [];
    // Not in the folder, which is sent.
    const file = join(dirname(loginFile(env)), 'agent.token');
    const words = ['mps', 'tokens', 'create', 'agent', ...project, '--rights', 'run', ...budget];
    return `Make one that may do less, then start mps mcp with it:\n  ${quoteCommand([...words, '--expires', '8h', '--to', file])}\n  ${quoteCommand(['mps', 'mcp', '--token', file])}`;
  };
  const { scope } = token;
  if (scope === null)
    throw new CliError(
      `This token has all your rights, and an agent could use all of them. ${await advice()}`,
      exitCodes.notSignedIn,
    );
  if (priced && scope.rights === 'run' && token.budget === null)
    throw new CliError(
      `This token has no budget, so nothing would bound what an agent spends. ${await advice()}`,
      exitCodes.notSignedIn,
    );
  return new Agent(session, { ...token, scope }, folder, priced);
}

async function currentToken({ client }: Session): Promise<Token> {
  for await (const token of client.rows<typeof listTokens>('GET /auth/tokens', { query: { limit: 1000 } }))
    if (token.current) return token;
  throw new CliError('The service does not know this token any more.', exitCodes.notSignedIn);
}
