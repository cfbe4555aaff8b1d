# workflow
