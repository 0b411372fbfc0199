"""What it takes to make the images: what goes in, what stays out, what each may weigh."""
