import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalService } from '../../../support/local-service.ts';
import { type Ended, startMps } from '../../../support/mps.ts';

/** Somebody at a machine of their own, who types commands. All that they see is kept. */
export class Person {
  readonly name: string;
  readonly home: string;
  readonly seen: string[] = [];

  private constructor(name: string, home: string) {
    this.name = name;
    this.home = home;
  }

  /** Somebody who signs in. */
  static async arrive(
    name: string,
    password: string,
    { url }: LocalService,
    scratch: string,
  ): Promise<Person> {
    const home = join(scratch, `home-of-${name}`);
    await mkdir(home, { recursive: true });
    const person = new Person(name, home);
    await person.types(scratch, ['login', url, '--user', name], `${password}\n`);
    return person;
  }

  /** Types a command in a folder, whatever becomes of it. */
  async tries(folder: string, args: readonly string[], input?: string): Promise<Ended> {
    const options = { folder, home: this.home, ...(input !== undefined && { input }) };
    const ended = await startMps(args, options).ended;
    this.seen.push(ended.stdout, ended.stderr);
    return ended;
  }

  /** The same, and returns what it prints. @throws Error where it fails */
  async types(folder: string, args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.tries(folder, args, input);
    if (code !== 0)
      throw new Error(`${this.name}: mps ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
    return stdout.trimEnd();
  }
}
