import { buildCommand } from './build-command.ts';

const [, , root = '', folder = ''] = process.argv;
await buildCommand(root, folder);
