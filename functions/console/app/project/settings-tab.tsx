import type { ProjectDetails } from '../api/answers.ts';
export const SettingsTab = (_: { project: ProjectDetails; onChange: () => Promise<void> }) => <p>{'…'}</p>;
