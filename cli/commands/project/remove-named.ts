import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../../context.ts';
import { projectSession } from '../../projects/project-session.ts';
import { json, project, verbose } from '../flags.ts';

type Session = Awaited<ReturnType<typeof projectSession>>;

interface Removal {
  /** Such as "Hooks". */
  many: string;
  brief: string;
  example: string;
  /** Remove one, and return the answer. */
  remove(session: Session, name: string): Promise<unknown>;
  /** What to print for one; `… is deleted.` by default. */
  said?(name: string): string;
}

/** Build the command that removes things of a project by their names. */
export function removeNamed({ many, brief, example, remove, said = deleted }: Removal): Command<CliContext> {
  return buildCommand({
    async func(
      this: CliContext,
      { project: given, json: isJson }: { project?: string; json?: boolean; verbose?: boolean },
      ...names: string[]
    ): Promise<void> {
      const session = await projectSession(this, given);
      for (const name of names) {
        const removed = await remove(session, name);
        if (isJson) this.process.stdout.write(`${JSON.stringify(removed)}\n`);
        else this.printer.say(said(name));
      }
    },
    parameters: {
      positional: {
        kind: 'array',
        parameter: { brief: `${many} to delete`, placeholder: 'NAME', parse: String },
        minimum: 1,
      },
      flags: { project, json, verbose },
      aliases: { p: 'project' },
    },
    docs: { brief, fullDescription: `Example:\n  ${example}` },
  });
}

const deleted = (name: string): string => `${name} is deleted.`;
