import type { ProjectDetails } from '../api/answers.ts';
export const FilesTab = (_: { project: ProjectDetails }) => <p>{'…'}</p>;
