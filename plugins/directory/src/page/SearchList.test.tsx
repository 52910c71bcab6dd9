import { renderInTestApp } from '@backstage/frontend-test-utils';
import type { UseQueryResult } from '@tanstack/react-query';
import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { SearchList } from './SearchList';

it('keeps what is typed while an earlier text reaches the URL', async () => {
  const onSearch = jest.fn();
  let navigate: (text: string) => void;
  function Page() {
    const [text, setText] = useState('');
    navigate = setText;
    return (
      <SearchList
        text={text}
        onSearch={onSearch}
        label="Search"
        placeholder=""
        query={{ data: 0, error: null } as UseQueryResult<number>}
        total={String}
        skeleton={null}
      >
        {() => null}
      </SearchList>
    );
  }
  renderInTestApp(<Page />);
  const field = await screen.findByRole('searchbox');

  await userEvent.type(field, 'al');
  await waitFor(() => expect(onSearch).toHaveBeenLastCalledWith('al'));
  await userEvent.type(field, 'i');
  act(() => navigate('al'));
  expect(field).toHaveValue('ali');

  await waitFor(() => expect(onSearch).toHaveBeenLastCalledWith('ali'));
  act(() => navigate('ali'));
  expect(field).toHaveValue('ali');

  act(() => navigate('al'));
  expect(field).toHaveValue('al');

  // The URL still contains the text that is restored.
  await userEvent.type(field, 'x');
  await waitFor(() => expect(onSearch).toHaveBeenCalledTimes(3));
  await userEvent.type(field, '{Backspace}');
  await waitFor(() => expect(onSearch).toHaveBeenCalledTimes(4));
  expect(onSearch).toHaveBeenLastCalledWith('al');
});
