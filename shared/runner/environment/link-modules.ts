import { lstat, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Puts the packages of an environment where `import` looks for them: `to` becomes a link to `modules`. Where the source
 * brings a `node_modules` of its own, each package that it lacks becomes a link in it, so that its own ones count first.
 * No process of the user's may run meanwhile, because links are made in folders of theirs.
 */
export async function linkModules(modules: string, to: string): Promise<void> {
  const facts = await lstat(to).catch(() => undefined);
  if (facts === undefined) return symlink(modules, to);
  if (!facts.isDirectory()) return;
  for (const name of await readdir(modules)) {
    if (name.startsWith('.')) continue;
    const [from, own] = [join(modules, name), join(to, name)];
    // A scope (`@scope`) holds packages of both.
    const isScope = name.startsWith('@');
    if (isScope || (await lstat(own).catch(() => undefined)) === undefined) await linkModules(from, own);
  }
}
