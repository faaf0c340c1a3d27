import { describe, expect, test } from 'vitest';
import { findProjects, projectPrefix } from '../../../shared/data/projects/project.ts';
import { listArchiveWork } from '../../../shared/data/projects/project-archives.ts';
import { imported } from './archive-lab.ts';
import { findPurge } from './find-purge.ts';
import { good, hostile, lab } from './hostile-archive.ts';
import { filesOf, packed } from './repacked-archive.ts';

describe('an archive is refused, and nothing is left, that is or holds', () => {
  test.each(Object.entries(hostile))('%s', async (_, [archive, reason]) => {
    const { status, status_reason, project_id, import_id } = await imported(lab, archive);
    expect([status, status_reason]).toEqual(['FAILED', expect.stringMatching(reason)]);
    expect((await findProjects(lab.records, [project_id])).items).toEqual([]);
    expect((await findPurge(lab.records, import_id))?.target.prefixes).toEqual([projectPrefix(project_id)]);
  });

  test('more bytes than a project may hold', async () => {
    const { status_reason } = await imported(lab, good, 3);
    expect(status_reason).toMatch(/a project may have 3/);
  });

  test('and none of them keeps the worker busy', async () => {
    expect((await listArchiveWork(lab.records, undefined)).items).toEqual([]);
  });
});

test('what the tests pack is what the service packs', () => {
  expect(packed(filesOf(good)).equals(good)).toBe(true);
});
