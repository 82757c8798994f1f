"""Letters: single ones, mailboxes, and what Outlook saves."""
