export const ModelPage = (_: { model_name: string }) => <p>{'…'}</p>;
