import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

async function listen(port: number, host: string): Promise<Server> {
  // The process that the socket is handed to serves; whoever comes before it has it comes again.
  const server = createServer((early) => early.destroy()).listen({ port, host });
  await once(server, 'listening');
  return server;
}

/** Makes a listening socket to hand to another process: on the port that is wanted, or any where that is taken. */
export async function listeningSocket(port: number, host: string): Promise<Server> {
  try {
    return await listen(port, host);
  } catch (error) {
    if (port === 0) throw error;
    return listen(0, host);
  }
}
