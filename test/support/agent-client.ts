import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { cliContext } from '../../cli/context.ts';
import { openAgent } from '../../cli/mcp/agent.ts';
import { serveMcp } from '../../cli/mcp/serve-mcp.ts';

/** What a tool has answered. */
export interface Told {
  text: string;
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  data: any;
}

export interface AgentPlace {
  /** Folder to train. */
  folder: string;
  /** Home of the agent, in which the ledger is. */
  home: string;
  url: string;
  token: string;
}

/** The context of `mps` with a token, in a folder. */
export function agentContext({ folder, home, url, token }: AgentPlace) {
  const env = { HOME: home, MPS_CHECKOUT: home, MPS_URL: url, MPS_TOKEN: token };
  const screen = { write: () => true };
  return cliContext({ stdin: {}, stdout: screen, stderr: screen, env, cwd: () => folder });
}

/** The protocol's own client, connected to `mps mcp` in this process. */
export async function connectAgent(place: AgentPlace) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  void serveMcp(await openAgent(agentContext(place)), far);
  return withCalls(near);
}

/** Connect the protocol's own client over a transport. */
export async function withCalls(transport: Parameters<Client['connect']>[0]) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const call = async (name: string, input: Record<string, unknown> = {}): Promise<Told> => {
    const { content, isError } = await client.callTool({ name, arguments: input }, undefined, {
      timeout: 90_000,
    });
    const [{ text }] = content as [{ text: string }];
    return { text, isError: isError === true, data: isError === true ? undefined : JSON.parse(text).data };
  };
  return { client, call, close: () => client.close() };
}

export type AgentClient = Awaited<ReturnType<typeof connectAgent>>;
