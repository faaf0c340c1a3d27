import { bundleCommand } from './bundle-command.ts';

const [, , root = '', folder = ''] = process.argv;
await bundleCommand(root, folder);
