export const StartPage = (_: { project_id: string }) => <p>{'…'}</p>;
