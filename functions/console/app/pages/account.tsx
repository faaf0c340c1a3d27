export const AccountPage = () => <p>{'…'}</p>;
