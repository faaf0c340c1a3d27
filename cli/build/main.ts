import { writeBundle } from './write-bundle.ts';

const [, , root = '', folder = ''] = process.argv;
await writeBundle(root, folder);
