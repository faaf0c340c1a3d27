import { Header } from 'tar';

/** A tar archive of one small file under a name that no honest tool would write. */
export function hostileTar(path: string): Buffer {
  const header = new Header({ path, mode: 0o644, size: 5, type: 'File', mtime: new Date(0) });
  const block = Buffer.alloc(512);
  header.encode(block);
  const body = Buffer.alloc(512);
  body.write('owned');
  return Buffer.concat([block, body, Buffer.alloc(1024)]);
}
