export const ModelsPage = () => <p>{'…'}</p>;
