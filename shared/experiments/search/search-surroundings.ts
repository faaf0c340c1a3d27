import { readUsernames } from '../../data/accounts/user.ts';
import type { ExperimentRow } from '../../data/experiments/experiment-row.ts';
import { readCriteria } from '../../data/projects/inferred-criterion.ts';
import type { TableReader } from '../../data/table/table.ts';
import type { NamedValue, Vocabulary } from '../../search/vocabulary.ts';
import { experimentVocabulary } from '../experiment-vocabulary.ts';
import { ProjectRankers } from '../rank-project.ts';

/**
 * What one search of experiments compares rows with besides their own values: names of users, and criteria of projects. It
 * reads only those that the filter and the order name.
 */
export class SearchSurroundings {
  readonly vocabulary: Vocabulary<ExperimentRow>;
  readonly rankers = new ProjectRankers();
  readonly usernames = new Map<string, string>();
  readonly #asked = new Set<string>();
  readonly #tables: Tables;

  constructor(tables: Tables, now: Date) {
    this.#tables = tables;
    this.vocabulary = experimentVocabulary({
      now,
      usernameOf: (id) => this.usernames.get(id),
      bestOf: (row) => this.rankers.of(row.project_id).best(row)?.value,
      bestOrderOf: (row) => this.rankers.of(row.project_id).orderOf(row),
      isFree: true,
    });
  }

  /** Return what reads the values of these names before rows are compared by them. */
  before(project_ids: readonly string[], names: readonly NamedValue<ExperimentRow>[]) {
    const attributes = new Set(names.map(({ attribute }) => attribute));
    return async (user_ids: Iterable<string>): Promise<void> => {
      if (attributes.has('user')) await this.#readUsernames(user_ids);
      if (attributes.has('best')) await this.#readCriteria(project_ids);
    };
  }

  /** Read what the answer about these rows tells. */
  async read(rows: readonly Pick<ExperimentRow, 'project_id' | 'user_id'>[]): Promise<void> {
    await this.#readCriteria(rows.map(({ project_id }) => project_id));
    await this.#readUsernames(rows.map(({ user_id }) => user_id));
  }

  async #readUsernames(user_ids: Iterable<string>): Promise<void> {
    const lacking = [...new Set(user_ids)].filter((id) => !this.#asked.has(id));
    for (const id of lacking) this.#asked.add(id);
    if (lacking.length === 0) return;
    for (const [id, name] of await readUsernames(this.#tables.accounts, lacking))
      this.usernames.set(id, name);
  }

  async #readCriteria(project_ids: Iterable<string>): Promise<void> {
    const lacking = this.rankers.lacking(project_ids);
    if (lacking.length > 0) this.rankers.take(await readCriteria(this.#tables.records, lacking));
  }
}

interface Tables {
  records: TableReader<'records'>;
  accounts: TableReader<'accounts'>;
}
