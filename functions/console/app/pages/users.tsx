export const UsersPage = () => <p>{'…'}</p>;
